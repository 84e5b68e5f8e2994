# SPDX-License-Identifier: Apache-2.0
"""Makes TorchScript files that are damaged: in bytes, zip structure, pickles and code."""

import io
import pickle
import random
import zipfile

BYTEWISE = 140
STRUCTURAL = 110


def records(content):
    """Returns a (ZipInfo, content) pair for each record."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(info, archive.read(info)) for info in archive.infolist()]


def packed(entries, compression=zipfile.ZIP_STORED):
    """Returns an archive of the (name, content) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return out.getvalue()


def contents(content):
    return [(info.filename, data) for info, data in records(content)]


def with_record(content, ending, change):
    """Changes the record whose name ends with the given text. `change` returns its new content, or
    None to remove it."""
    entries, found = [], False
    for name, data in contents(content):
        if name.endswith(ending):
            found = True
            data = change(data)
        if data is not None:
            entries.append((name, data))
    assert found, ending
    return packed(entries)


def damaged_bytes(data, rng):
    """Changes, removes or doubles a few bytes, or cuts off the end."""
    data = bytearray(data)
    if not data:
        return bytes([rng.randrange(256)])
    kind = rng.randrange(6)
    at = rng.randrange(len(data))
    if kind <= 1:
        for _ in range(1 << rng.randrange(5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 2:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 3:
        del data[at:at + rng.randrange(1, 64)]
    elif kind == 4:
        data[at:at] = data[at:at + rng.randrange(1, 64)]
    else:
        del data[at:]
    return bytes(data)


def bytewise(files, seed=20260101):
    rng = random.Random(seed)
    for i in range(BYTEWISE):
        yield f"bytes_{i}", damaged_bytes(rng.choice(files), rng)


def structural(files, seed=20260102):
    """Makes complete archives with damaged, missing, exchanged or doubled records and correct
    checksums."""
    rng = random.Random(seed)
    for i in range(STRUCTURAL):
        entries = contents(rng.choice(files))
        kind = rng.randrange(8)
        at = rng.randrange(len(entries))
        name, data = entries[at]
        if kind <= 3:
            for _ in range(rng.choice((1, 1, 3))):
                data = damaged_bytes(data, rng)
            entries[at] = (name, data)
        elif kind == 4:
            del entries[at]
        elif kind == 5:
            other = rng.randrange(len(entries))
            entries[at], entries[other] = (name, entries[other][1]), (entries[other][0], data)
        elif kind == 6:
            entries.append((name + "x", data))
            entries[at] = (name, b"")
        else:
            pickles = [k for k, (n, _) in enumerate(entries) if n.endswith(".pkl")]
            k = rng.choice(pickles)
            entries[k] = (entries[k][0], damaged_bytes(entries[k][1], rng))
        yield f"records_{i}", packed(entries)


class Runs:
    """An object that Python's unpickler would call."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def patched(data, old, new):
    assert data.count(old) >= 1, old
    return data.replace(old, new)


def statement(text):
    """Inserts a statement before the first return of the code."""
    return lambda code: code.replace(b"return", text.encode() + b"\n    return", 1)


def nested_ifs(depth):
    """Returns nested branches; each column of indentation is a level."""
    lines = ["if True:"]
    lines += [" " * (4 + i) + "if True:" for i in range(1, depth)]
    return "\n".join(lines + [" " * (4 + depth) + "y = 1"])


def hostile(plain, weights, path):
    """Returns file contents by name. `plain` and `weights` are valid files; `path` is the file that
    code in a pickle would write."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in records(plain):
            if info.filename.endswith(".py"):
                data = b"#" + b"\0" * (400 << 20)
            archive.writestr(info.filename, data)

    def data(instructions):
        return with_record(plain, "/data.pkl", lambda _: b"\x80\x02" + instructions)

    def code(text):
        return with_record(plain, ".py", statement(text))

    return {
        "empty": b"",
        "garbage": random.Random(5).randbytes(5000),
        "text": b"this is no model\n" * 100,
        "truncated": plain[:len(plain) // 2],
        "header_only": plain[:4],
        "empty_archive": packed([]),
        "state_dict": packed([("archive/data.pkl", pickle.dumps({"weight": 1})),
                              ("archive/version", b"3\n")]),
        "bomb": bomb.getvalue(),
        "calls_code": with_record(plain, "/data.pkl", lambda _: pickle.dumps(Runs(path), 2)),
        "calls_os": data(b"cos\nsystem\nX\x04\x00\x00\x00true\x85R."),
        "deep_code": code("deep = " + "(" * 200_000 + "x" + ")" * 200_000),
        "deep_additions": code("deep = " + " + ".join(["x"] * 200_000)),
        "deep_blocks": code(nested_ifs(3000)),
        "deep_pickle": data(b"(" * 2_000_000 + b"."),
        "deep_tuple": data(b")" + b"\x85" * 1_000_000 + b"."),
        "deep_types": data(b"ctorch.jit._pickle\nrestore_type_tag\n]X\x00\x00\x10\x00"
                           + b"[" * (1 << 20) + b"\x86R."),
        "memo": data(b"]r\xff\xff\xff\xff."),
        "self_reference": data(b"]q\x00h\x00a."),
        "no_data": with_record(plain, "/data.pkl", lambda _: None),
        "no_code": with_record(plain, ".py", lambda _: None),
        "version_from_the_future": with_record(plain, "/version", lambda _: b"999999\n"),
        "version_is_text": with_record(plain, "/version", lambda _: b"three\n"),
        # A storage with more elements than its record has bytes: a reader would read beyond the
        # end.
        "storage_too_large": with_record(weights, "/data.pkl", larger_storage),
        "record_too_small": with_record(weights, "/data/0", lambda data: data[:8]),
        "no_storage": with_record(weights, "/data/0", lambda _: None),
        # A tensor with more elements than its storage.
        "tensor_too_large": with_record(weights, "/data.pkl", lambda data: patched(
            data, b"(K\x04K\x03K\x03K\x03t", b"(K\x7fK\x03K\x03K\x03t")),
    }


def larger_storage(data):
    """Changes the one-byte numbers (K) in the description of a storage to 2^30."""
    at = data.index(b"cpu")
    k = data.index(b"K", at)
    return data[:k] + b"J\x00\x00\x00\x40" + data[k + 2:]

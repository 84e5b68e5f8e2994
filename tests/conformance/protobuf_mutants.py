# SPDX-License-Identifier: Apache-2.0
"""Damaged protobuf files: mutants of a serialized message, the same ones for the same seed.

Half of the mutants are made bytewise (flips, cuts, insertions, truncations). The others keep the
wire format and change its fields: numbers become extreme, texts are exchanged, fields are removed,
doubled, nested or renumbered. No schema is needed: bytes that can be parsed as a message are
treated as one.
"""

import copy
import random

EXTREME = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2**31)


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError
        number |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return number & (2**64 - 1), at
        shift += 7


def parse(data, depth=0):
    """Returns [[field, wire type, value]]. The value of wire type 2 is bytes or such a list."""
    fields, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        field, kind = key >> 3, key & 7
        if field == 0 or field > 2**16:
            raise ValueError
        if kind == 0:
            value, at = read_varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError
        elif kind == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError
            if value and depth < 16:
                try:
                    value = parse(value, depth + 1)
                except ValueError:
                    pass
        else:
            raise ValueError
        fields.append([field, kind, value])
    return fields


def write(fields):
    out = bytearray()
    for field, kind, value in fields:
        out += varint(field << 3 | kind)
        if kind == 0:
            out += varint(value)
        elif kind == 2:
            value = write(value) if isinstance(value, list) else value
            out += varint(len(value)) + value
        else:
            out += value
    return bytes(out)


def places(fields):
    """Returns (list, index) of every field at every depth."""
    found = []
    for place, (_, _, value) in enumerate(fields):
        found.append((fields, place))
        if isinstance(value, list):
            found += places(value)
    return found


def change_field(fields, rng):
    found = places(fields)
    parent, place = rng.choice(found)
    field = parent[place]
    if field[1] == 0 and rng.random() < 0.8:
        field[2] = rng.choice(EXTREME + (rng.randrange(64),))
        return
    texts = [p[i] for p, i in found if p[i][1] == 2]
    action = rng.randrange(6)
    if action == 0:
        del parent[place]
    elif action == 1:
        parent.insert(place, [*field[:2], copied(field[2])])
    elif action == 2 and field[1] == 2:
        field[2] = copied(rng.choice(texts)[2])
    elif action == 3:
        field[0] = rng.randrange(1, 30)
    elif action == 4 and field[1] == 2:
        field[2] = rng.randbytes(rng.randrange(12))
    elif field[1] == 2:
        field[2] = write([[rng.randrange(1, 12), 0, rng.choice(EXTREME)]])
    else:
        field[1], field[2] = 0, rng.choice(EXTREME)


def copied(value):
    """Copies a tree. A list must not occur twice in a tree, or the tree could contain itself."""
    return copy.deepcopy(value)


def structural(data, rng):
    fields = parse(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if fields:
            change_field(fields, rng)
    return write(fields)


def bytewise(data, rng):
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(max(1, len(out)))
        action = rng.randrange(5)
        if action == 0 and out:
            out[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            out[at:at + rng.randrange(1, 9)] = rng.randbytes(rng.randrange(9))
        elif action == 2:
            out[at:at] = varint(rng.choice(EXTREME))
        elif action == 3:
            del out[at:at + rng.randrange(1, 33)]
        elif rng.random() < 0.2:
            del out[at:]
    return bytes(out)


def mutants(data, seed, count):
    rng = random.Random(seed)
    for i in range(count):
        yield (structural if i % 2 else bytewise)(data, rng)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the TensorFlow models of the tests, with TensorFlow's own Python package.

    python -m venv VENV && VENV/bin/pip install tensorflow-cpu==2.21.0
    VENV/bin/python tests/data/tensorflow/make_models.py

What it writes beside itself is committed, so that the tests need no TensorFlow:

    graphs/NAME.graphdef        a serialized GraphDef
    savedmodels/NAME/           a SavedModel
    cases.json                  {NAME: [{"inputs": {...}, "outputs": {...}}]}, computed here by
                                TensorFlow; a tensor is {"datatype", "shape", "data"}, texts are
                                latin-1. For a batching model each case is one batch.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import ragged_batches  # noqa: E402

GRAPHS = HERE / "graphs"
SAVED = HERE / "savedmodels"
CASES = {}

DATATYPES = {
    "BOOL": tf.bool, "UINT8": tf.uint8, "UINT16": tf.uint16, "UINT32": tf.uint32,
    "UINT64": tf.uint64, "INT8": tf.int8, "INT16": tf.int16, "INT32": tf.int32, "INT64": tf.int64,
    "FP16": tf.float16, "FP32": tf.float32, "FP64": tf.float64, "BYTES": tf.string,
    "BF16": tf.bfloat16,
}
# Types of TensorFlow that the inference protocol does not have.
FOREIGN = {
    "complex64": tf.complex64, "complex128": tf.complex128, "qint8": tf.qint8,
    "quint8": tf.quint8, "qint32": tf.qint32, "qint16": tf.qint16, "quint16": tf.quint16,
    "resource": tf.resource, "variant": tf.variant,
}


def described(value):
    """Returns a tensor in the form of cases.json."""
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        data = [v.decode("latin-1") for v in value.reshape(-1)]
        return {"datatype": "BYTES", "shape": list(value.shape), "data": data}
    kind = next(k for k, t in DATATYPES.items()
                if t != tf.string and value.dtype == t.as_numpy_dtype)
    flat = value.reshape(-1)
    data = flat.astype(np.float64) if value.dtype.kind not in "biu" else flat
    return {"datatype": kind, "shape": list(value.shape), "data": data.tolist()}


def note(name, inputs, outputs):
    CASES.setdefault(name, []).append({
        "inputs": {k: described(v) for k, v in inputs.items()},
        "outputs": {k: described(v) for k, v in outputs.items()}})


def write_graph(name, graph):
    GRAPHS.mkdir(exist_ok=True)
    (GRAPHS / f"{name}.graphdef").write_bytes(graph.as_graph_def().SerializeToString(
        deterministic=True))


def tensor_name(name):
    return name if ":" in name else name + ":0"


def run_graph(name, graph, feeds, fetches, case=None, before=()):
    """Runs the graph on some feeds, records the results, and returns them."""
    with v1.Session(graph=graph) as session:
        for operation in before:
            session.run(operation)
        values = session.run([tensor_name(f) for f in fetches],
                             {tensor_name(k): v for k, v in feeds.items()})
    note(case or name, feeds, dict(zip(fetches, values)))


def sample(kind, shape):
    """Returns values that each type represents exactly, including its limits."""
    count = int(np.prod(shape))
    if kind == "BYTES":
        texts = [b"", b"one", b"\xff\x00\xfe not UTF-8", "größer".encode(), b"x" * 100]
        return np.array([texts[i % len(texts)] for i in range(count)], object).reshape(shape)
    dtype = DATATYPES[kind].as_numpy_dtype
    if kind == "BOOL":
        return (np.arange(count) % 2 == 1).reshape(shape)
    if kind in ("FP16", "FP32", "FP64", "BF16"):
        return np.linspace(-4, 4, count).astype(dtype).reshape(shape)
    ends = np.iinfo(dtype)
    values = [ends.min, ends.max] + [i for i in range(count)]
    return np.array(values[:count], dtype).reshape(shape)


def make_types():
    """in_KIND -> out_KIND for every type; open_KIND has no rank; foreign_NAME for the others."""
    graph = tf.Graph()
    with graph.as_default():
        for kind, dtype in DATATYPES.items():
            tf.identity(v1.placeholder(dtype, [None, 5], f"in_{kind}"), f"out_{kind}")
        tf.identity(v1.placeholder(tf.float32, None, "open_in"), "open_out")
        for kind, dtype in FOREIGN.items():
            tf.identity(v1.placeholder(dtype, [None, 5], f"foreign_in_{kind}"),
                        f"foreign_out_{kind}")
    write_graph("types", graph)
    for kind in DATATYPES:
        run_graph("types", graph, {f"in_{kind}": sample(kind, (3, 5))}, [f"out_{kind}"],
                  f"types_{kind}")


def make_networks():
    rng = np.random.default_rng(8)
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 4], "x")
        w = tf.constant(rng.normal(size=(4, 8)), tf.float32, name="w")
        v = tf.constant(rng.normal(size=(8, 3)), tf.float32, name="v")
        hidden = tf.nn.relu(tf.matmul(x, w) + 0.25, name="hidden")
        tf.nn.softmax(tf.matmul(hidden, v), name="scores")
    write_graph("matmul", graph)
    for rows in (1, 3, 8):
        feeds = {"x": rng.normal(size=(rows, 4)).astype(np.float32)}
        run_graph("matmul", graph, feeds, ["scores", "hidden"])

    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 8, 8, 3], "image")
        k = tf.constant(rng.normal(size=(3, 3, 3, 4)), tf.float32)
        y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")), 2, 2, "VALID")
        tf.reduce_mean(y, [1, 2], name="features")
    write_graph("conv", graph)
    run_graph("conv", graph, {"image": rng.normal(size=(2, 8, 8, 3)).astype(np.float32)},
              ["features"])

    # The graph is fixed to this batch: max_batch_size must be 0.
    graph = tf.Graph()
    with graph.as_default():
        a = v1.placeholder(tf.float32, [2, 3], "a")
        b = v1.placeholder(tf.float32, [], "b")
        tf.multiply(a, b, name="scaled")
        tf.reduce_sum(a, name="sum")
    write_graph("fixed", graph)
    run_graph("fixed", graph, {"a": np.arange(6, dtype=np.float32).reshape(2, 3),
                               "b": np.float32(1.5)}, ["scaled", "sum"])

    graph = tf.Graph()
    with graph.as_default():
        tf.split(v1.placeholder(tf.int32, [None, 6], "whole"), 3, 1, name="parts")
    write_graph("split", graph)
    run_graph("split", graph, {"whole": np.arange(12, dtype=np.int32).reshape(2, 6)},
              ["parts", "parts:1", "parts:2"])

    # Clients use [12]; the graph needs [3, 4]. The scalar's shape is [batch].
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 3, 4], "x")
        factor = v1.placeholder(tf.float32, [None], "factor")
        tf.transpose(x * factor[:, None, None], [0, 2, 1], name="turned")
        tf.reduce_sum(x, [1, 2], name="total")
    write_graph("reshaped", graph)
    run_graph("reshaped", graph, {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
                                  "factor": np.array([2, -1], np.float32)}, ["turned", "total"])


def make_texts():
    graph = tf.Graph()
    with graph.as_default():
        a = v1.placeholder(tf.string, [None, 2], "a")
        b = v1.placeholder(tf.string, [None, 2], "b")
        tf.strings.join([a, b], "-", name="joined")
        tf.strings.length(a, name="lengths")
    write_graph("texts", graph)
    run_graph("texts", graph,
              {"a": np.array([[b"", b"\xff\xfe"], [b"a\0b", b"x" * 40]], object),
               "b": np.array([[b"1", b""], ["ü".encode(), b"y" * 3000]], object)},
              ["joined", "lengths"])
    # One output fails if its input is not a number; the other does not depend on it.
    graph = tf.Graph()
    with graph.as_default():
        a = v1.placeholder(tf.string, [None, 1], "a")
        tf.strings.to_number(a, tf.float32, name="number")
        tf.strings.length(a, name="length")
    write_graph("pruned", graph)
    run_graph("pruned", graph, {"a": np.array([[b"2.5"], [b"-1"]], object)}, ["number", "length"])


def make_sequences():
    """A sum over a sequence: by a state that the server keeps, with the control inputs."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 1], "INPUT")
        state = v1.placeholder(tf.float32, [None, 1], "STATE_IN")
        start = v1.placeholder(tf.int32, [None, 1], "START")
        ready = v1.placeholder(tf.bool, [None, 1], "READY")
        ident = v1.placeholder(tf.uint64, [None, 1], "CORRID")
        total = tf.where(tf.not_equal(start, 0), tf.zeros_like(state), state) + x
        tf.identity(total, "STATE_OUT")
        tf.identity(total, "OUTPUT")
        tf.identity(tf.cast(tf.bitcast(ident, tf.int64), tf.float32)
                    + tf.cast(ready, tf.float32) / 2, "WHO")
    write_graph("sequence", graph)

    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.string, [None, 1], "INPUT")
        state = v1.placeholder(tf.string, [None, 1], "STATE_IN")
        total = tf.strings.join([state, x])
        tf.identity(total, "STATE_OUT")
        tf.identity(total, "OUTPUT")
    write_graph("text_sequence", graph)


def make_stateful():
    """Makes variables and a table that an operation of the graph initializes (TF_INIT_OPS_FILE)."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], "x")
        w = v1.get_variable("w", initializer=np.array([[1, 2], [3, 4]], np.float32),
                            use_resource=True)
        word = v1.placeholder(tf.string, [None, 1], "word")
        table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64,
                                       shared_name="numbers")
        tf.raw_ops.LookupTableImportV2(table_handle=table, keys=tf.constant(["a", "b"]),
                                       values=tf.constant([7, 8], tf.int64), name="init_tables")
        tf.raw_ops.LookupTableFindV2(table_handle=table, keys=word,
                                     default_value=tf.constant(-1, tf.int64), name="number")
        tf.matmul(x, w, name="y")
        # The variables keep their inputs beyond the run.
        kept = v1.get_variable("kept", initializer=np.zeros((1, 2), np.float32), use_resource=True)
        kept_text = v1.get_variable("kept_text", initializer=np.array([[""]], object),
                                    dtype=tf.string, use_resource=True)
        v1.global_variables_initializer()
        kept_before = kept.read_value()
        with tf.control_dependencies([kept_before]):
            stored = kept.assign(x, read_value=False)
        with tf.control_dependencies([stored]):
            tf.identity(kept_before, "before")
        text_before = kept_text.read_value()
        with tf.control_dependencies([text_before]):
            stored = kept_text.assign(word, read_value=False)
        with tf.control_dependencies([stored]):
            tf.identity(text_before, "text_before")
    write_graph("stateful", graph)
    run_graph("stateful", graph, {"x": np.ones((2, 2), np.float32),
                                  "word": np.array([[b"b"], [b"?"]], object)},
              ["y", "number"], before=["init", "init_tables"])


class Linear(tf.Module):
    """A model as Keras exports it: variables, signatures, one serving_default."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(9)
        self.kernel = tf.Variable(rng.normal(size=(4, 2)).astype(np.float32))
        self.bias = tf.Variable(rng.normal(size=(2,)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "input_1")])
    def serve(self, input_1):
        return {"dense_1": tf.matmul(input_1, self.kernel) + self.bias}

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "features")])
    def norm(self, features):
        return {"length": tf.norm(features, axis=1), "positive": features > 0}

    @tf.function(input_signature=[tf.TensorSpec([3], tf.int32, "dims")])
    def fixed(self, dims):
        return {"product": tf.reduce_prod(dims)}


def note_saved(name, path, signature, inputs, tags=None):
    loaded = tf.saved_model.load(str(path), tags)
    outputs = loaded.signatures[signature](**{k: tf.constant(v) for k, v in inputs.items()})
    note(name, inputs, {k: v.numpy() for k, v in outputs.items()})


def make_saved_models():
    options = tf.saved_model.SaveOptions(save_debug_info=False, experimental_custom_gradients=False)
    module = Linear()
    path = SAVED / "linear"
    tf.saved_model.save(module, str(path), {"serving_default": module.serve, "norm": module.norm,
                                            "fixed": module.fixed}, options)
    (path / "fingerprint.pb").unlink()
    rng = np.random.default_rng(10)
    for rows in (1, 3):
        x = rng.normal(size=(rows, 4)).astype(np.float32)
        note_saved("linear", path, "serving_default", {"input_1": x})
        note_saved("linear_norm", path, "norm", {"features": x})
    note_saved("linear_fixed", path, "fixed", {"dims": np.array([2, 3, 7], np.int32)})

    class Vocabulary(tf.Module):
        def __init__(self):
            super().__init__()
            # The file name becomes part of the model, so it must not contain the folder of this
            # script.
            Path("words.txt").write_text("zero\none\ntwo\n")
            self.table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
                "words.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER), 1)

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, "words")])
        def serve(self, words):
            return {"ids": self.table.lookup(words), "upper": tf.strings.upper(words)}

    os.chdir(tempfile.mkdtemp())
    module = Vocabulary()
    path = SAVED / "vocabulary"
    tf.saved_model.save(module, str(path), {"serving_default": module.serve}, options)
    (path / "fingerprint.pb").unlink()
    note_saved("vocabulary", path, "serving_default",
               {"words": np.array([[b"one", b"two"], [b"zero", b"\xffno"]], object)})


def make_tagged():
    """Three meta graphs: 'serve', 'other', 'other' with 'fast'. No signature is the default."""
    path = SAVED / "tagged"
    builder = v1.saved_model.Builder(str(path))
    for tags, factor in ((["serve"], 1.0), (["other"], 10.0), (["other", "fast"], 100.0)):
        graph = tf.Graph()
        with graph.as_default(), v1.Session(graph=graph) as session:
            x = v1.placeholder(tf.float32, [None, 2], "x")
            w = v1.get_variable("w", initializer=np.float32(2))  # the tags share the variables
            outputs = {"y": tf.multiply(x, w * factor, name="product")}
            session.run(v1.global_variables_initializer())
            info = {k: v1.saved_model.build_tensor_info(v) for k, v in {"x": x, **outputs}.items()}
            signatures = {
                "scale": v1.saved_model.build_signature_def({"x": info["x"]}, {"y": info["y"]}),
                "copy": v1.saved_model.build_signature_def({"from": info["x"]}, {"to": info["x"]})}
            if tags == ["serve"]:
                builder.add_meta_graph_and_variables(session, tags, signatures)
            else:
                builder.add_meta_graph(tags, signatures)
    builder.save()


def make_running_total():
    """A SavedModel whose state the server keeps: total = before + weight * value."""
    path = SAVED / "running_total"
    builder = v1.saved_model.Builder(str(path))
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        value = v1.placeholder(tf.float32, [None, 2], "value")
        before = v1.placeholder(tf.float32, [None, 2], "before")
        weight = v1.get_variable("weight", initializer=np.ones(2, np.float32))
        total = tf.add(before, value * weight, name="total")
        session.run(v1.global_variables_initializer())
        signature = v1.saved_model.predict_signature_def(
            {"value": value, "before": before}, {"total": total})
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
    builder.save()


def ragged_outputs(values, count, ends, bounds, widest, shapes, flat):
    """The outputs of the ragged model (ragged_batches.py)."""
    totals = tf.concat([[0.0], tf.cumsum(values)], 0)
    def column(x):
        return tf.expand_dims(x, 1)
    return {
        "doubled": values * 2,
        "sums": column(tf.gather(totals, bounds[1:]) - tf.gather(totals, bounds[:-1])),
        "out_count": column(count), "out_end": column(ends), "out_begin": column(bounds[:-1]),
        "out_shape": tf.identity(shapes), "out_flat": column(flat),
        "out_widest": tf.zeros_like(column(count)) + tf.size(widest)}


def ragged_feeds(make):
    """The inputs of the ragged model, by `make(dtype, shape, name)`."""
    return {name: make(tf.float32 if name == "values" else tf.int32,
                       [None, None] if name == "shapes" else [None], name)
            for name in ragged_batches.batch(range(1))}


def make_ragged():
    graph = tf.Graph()
    with graph.as_default():
        for name, value in ragged_outputs(**ragged_feeds(v1.placeholder)).items():
            tf.identity(value, name)
        tf.strings.join([v1.placeholder(tf.string, [None], "texts"), "!"], name="longer")
    write_graph("ragged", graph)
    outputs = ("doubled",) + ragged_batches.COLUMNS
    for order in ragged_batches.ORDERS:
        run_graph("ragged", graph, ragged_batches.batch(order), outputs)
    module = tf.Module()
    module.serve = tf.function(ragged_outputs)
    specs = ragged_feeds(lambda dtype, shape, name: tf.TensorSpec(shape, dtype, name))
    tf.saved_model.save(module, str(SAVED / "ragged"),
                        signatures=module.serve.get_concrete_function(**specs))


def main():
    for folder in (GRAPHS, SAVED):
        shutil.rmtree(folder, ignore_errors=True)
    tf.random.set_seed(1)
    make_types()
    make_networks()
    make_texts()
    make_sequences()
    make_stateful()
    make_saved_models()
    make_tagged()
    make_running_total()
    make_ragged()
    (HERE / "cases.json").write_text(json.dumps(CASES, indent=None, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

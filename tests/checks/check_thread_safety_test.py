# SPDX-License-Identifier: Apache-2.0
"""Tests that check_thread_safety.py finds bare mutexes itself, and unguarded use with the help of
clang."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_thread_safety.py"

COUNTER = """\
#include "base/mutex.h"
class Counter {
 public:
  int Next() {
    %s
    return ++count_;
  }

 private:
  nereid::base::Mutex mutex_;
  int count_ %s = 0;
};
int Use(Counter& counter) { return counter.Next(); }
"""


class CheckThreadSafety(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name)
        (self.root / "src/base").mkdir(parents=True)
        for name in ("mutex.h", "thread_annotations.h"):
            shutil.copy(ROOT / "src/base" / name, self.root / "src/base" / name)

    def check(self, text, unity=False):
        """Writes one source, runs the tool, and returns (exit status, output). `unity`: the build
        compiles the source with others."""
        source = self.root / "src/counter.cc"
        source.write_text(text)
        compiled = source
        if unity:
            compiled = self.root / "build/unity_0.cc"
            compiled.parent.mkdir(exist_ok=True)
            compiled.write_text('#include "../src/counter.cc"\n')
        command = f"ccache g++ -std=c++20 -fno-gnu-unique -I{self.root}/src -o c.o -c {compiled}"
        (self.root / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.root), "file": str(compiled), "command": command}]))
        run = subprocess.run([sys.executable, TOOL, "--root", self.root, "--build", self.root],
                             env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache")},
                             capture_output=True, text=True, check=False)
        if run.returncode == 2 and "is not installed" in run.stderr:
            self.skipTest(run.stderr.strip())
        return run.returncode, run.stdout

    def test_an_annotated_member_used_with_its_lock_passes(self):
        status, output = self.check(COUNTER % ("nereid::base::MutexLock lock(mutex_);",
                                               "NEREID_GUARDED_BY(mutex_)"))
        self.assertEqual(status, 0, output)
        self.assertIn("1 mutexes, 0 bare", output)

    def test_use_without_the_lock_is_found(self):
        status, output = self.check(COUNTER % ("", "NEREID_GUARDED_BY(mutex_)"))
        self.assertEqual(status, 1)
        self.assertIn("writing variable 'count_' requires holding mutex 'mutex_'", output)

    def test_sources_of_a_unity_build_are_read_alone(self):
        status, output = self.check(COUNTER % ("", "NEREID_GUARDED_BY(mutex_)"), unity=True)
        self.assertEqual(status, 1)
        self.assertIn("read 1 sources, 1 with complaints", output)

    def test_a_source_that_passed_is_read_again_after_a_change_only(self):
        text = COUNTER % ("nereid::base::MutexLock lock(mutex_);", "NEREID_GUARDED_BY(mutex_)")
        self.assertIn("read 1 sources", self.check(text)[1])
        self.assertIn("read 0 sources, 0 with complaints; 1 had passed before", self.check(text)[1])
        with open(self.root / "src/base/thread_annotations.h", "a", encoding="utf-8") as header:
            header.write("// A header that mutex.h includes.\n")
        self.assertIn("read 1 sources", self.check(text, unity=True)[1])
        self.assertIn("read 1 sources", self.check(text + "int other;\n")[1])

    def test_a_source_with_a_fault_is_never_remembered(self):
        for _ in range(2):
            status, output = self.check(COUNTER % ("", "NEREID_GUARDED_BY(mutex_)"))
            self.assertEqual(status, 1)
            self.assertIn("read 1 sources, 1 with complaints", output)

    def test_a_mutex_that_nothing_names_is_bare(self):
        status, output = self.check(COUNTER % ("nereid::base::MutexLock lock(mutex_);", ""))
        self.assertEqual(status, 1)
        self.assertIn("src/counter.cc:10: nothing is annotated with 'mutex_'", output)
        self.assertIn("1 mutexes, 1 bare", output)

    def test_a_mutex_may_say_that_it_only_orders_calls(self):
        text = "#include \"base/mutex.h\"\n// One call at a time; guards no member.\n" \
               "nereid::base::Mutex one_at_a_time;\n"
        self.assertEqual(self.check(text)[0], 0)

    def test_locks_of_the_standard_library_are_refused(self):
        status, output = self.check("#include <mutex>\n// std::mutex in a comment\n"
                                    "std::mutex mutex;\n")
        self.assertEqual(status, 1)
        self.assertIn("src/counter.cc:3: std::mutex: use base/mutex.h", output)
        self.assertEqual(output.count("use base/mutex.h"), 1)


if __name__ == "__main__":
    unittest.main()

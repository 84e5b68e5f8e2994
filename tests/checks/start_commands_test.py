# SPDX-License-Identifier: Apache-2.0
"""Tests that ./start and ./test report errors before they change anything, on machines of several
kinds."""

import os
import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ["awk", "bash", "cat", "cut", "dirname", "env", "grep", "tail", "tr"]


class Commands(unittest.TestCase):
    """Runs the commands with a PATH that contains only TOOLS and the programs that a test adds."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        for tool in TOOLS:
            (self.path / tool).symlink_to(shutil.which(tool))

    def add(self, name, script):
        (self.path / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.path / name).chmod(0o755)

    def run_command(self, *words):
        done = subprocess.run([str(ROOT / words[0]), *words[1:]], capture_output=True, text=True,
                              timeout=60, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": str(self.path)})
        return done.returncode, done.stdout + done.stderr

    def test_help(self):
        for name, flag, word in (("start", "-h", "--check"), ("start", "--help", "--port-base N"),
                                 ("test", "-h", "--asan"), ("test", "--help", "--asan")):
            code, text = self.run_command(name, flag)
            self.assertEqual(code, 0, text)
            self.assertIn(f"usage: ./{name} [", text)
            self.assertIn(word, text)

    def test_an_unknown_option(self):
        code, text = self.run_command("start", "--chek")
        self.assertEqual(code, 1)
        self.assertIn("./start: unknown option '--chek'", text)
        self.assertIn("usage: ./start [", text)

    def test_ports_that_cannot_be(self):
        for words in (("--port-base", "0"), ("--port-base=65534",), ("--port-base=80x",),
                      ("--port-base",), ("--port-base", "-1"), ("--port-base", "000080")):
            code, text = self.run_command("start", *words)
            self.assertEqual(code, 1, words)
            self.assertIn("--port-base needs a number from 1 to 65533, got '", text)

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, text = self.run_command("start", "--check", "--port-base", str(port))
        self.assertEqual(code, 1)
        self.assertIn(f"port {port} is in use", text)
        self.assertIn("./start --port-base 9000", text)

    def test_no_debian(self):
        for words in (("start", "--check", "--port-base", "20901"), ("test",)):
            code, text = self.run_command(*words)
            self.assertEqual(code, 1)
            self.assertIn("this system is not Debian: there is no apt-get", text)
            self.assertIn("docs/user/install.md", text)

    def test_missing_packages_without_sudo(self):
        self.add("apt-get", "exit 1")
        self.add("dpkg-query", "for last; do :; done; [ \"$last\" != mold ] && "
                 "[ \"$last\" != libgtest-dev ] && printf 'install ok installed'")
        self.add("id", "echo 1000")
        for words, packages in ((("start", "--check", "--port-base", "20901"), "mold"),
                                (("test",), "mold libgtest-dev")):
            code, text = self.run_command(*words)
            self.assertEqual(code, 1)
            self.assertIn(f"there is no sudo to install them with: {packages}\n", text)
            self.assertIn("apt-get update && apt-get install --no-install-recommends " + packages,
                          text)


if __name__ == "__main__":
    unittest.main()

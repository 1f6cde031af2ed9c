"""Kernels of CUDA on the host: a stand-in for ``cupy.RawKernel``, compiled by g++, in which each
thread of a block is one of C++."""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

HEAD = """
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __shared__ static
#define __syncthreads() threads->arrive_and_wait()
using std::exp, std::fabs, std::log;
struct Place { int x; };
static thread_local Place threadIdx;
static Place blockIdx;
static std::barrier<>* threads;
"""
TAIL = """
extern "C" void launch(int blocks, int count, const T* x, const T* y, T* z, long long rows,
                       long long length, long long columns)
{
    std::barrier<> barrier(count);
    threads = &barrier;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        std::vector<std::thread> all;
        for (int k = 0; k < count; k++)
            all.emplace_back([=] { threadIdx.x = k; product(x, y, z, rows, length, columns); });
        for (auto& thread : all) thread.join();
    }
}
"""


@cache
def launcher(code):
    """The function that launches a kernel, which is compiled once."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the kernel")
    folder = Path(tempfile.mkdtemp())
    source, library = folder / "kernel.cpp", folder / "kernel.so"
    source.write_text(HEAD + code + TAIL, encoding="utf-8")
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "-o", library]
    subprocess.run([*command, source], check=True)
    return ctypes.CDLL(str(library)).launch


class RawKernel:
    """A kernel of three arrays and three integers by the name ``product``."""

    def __init__(self, code, name):
        self.code = code

    def __call__(self, blocks, threads, arguments):
        given = [
            ctypes.c_void_p(own.ctypes.data)
            if isinstance(own, np.ndarray)
            else ctypes.c_longlong(own)
            for own in arguments
        ]
        launcher(self.code)(ctypes.c_int(*blocks), ctypes.c_int(*threads), *given)

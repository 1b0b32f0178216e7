// Metal Shading Language as C++17: include this, then the MSL text that MLX generates. See tests/metal/msl.py.
#pragma once
#include "simd.h"
#include "math.h"

using namespace metal;

// 64 bits here as there, on every system
typedef int64_t shim_long;

#define METAL_FUNC inline
#define device
#define constant
#define kernel
#define thread
#define threadgroup

"""Metal kernels, each with the same arithmetic in plain MLX operations beside it.

A kernel is one `.metal` file and one Python file: `f(...)` takes the kernel where it can run and has proved right on
this machine, otherwise `f_reference(...)`. `S2MLX_KERNELS=off` takes the reference always. Nothing here knows a model:
arrays in, arrays out, no state.

    qmv             matrix-vector over raw GGUF blocks, with RMSNorm, residual add or SwiGLU in the same launch
    dequantize      raw GGUF blocks to a matrix, whole or chosen rows
    attention       of the Fast-AR and of one Slow-AR position: norm, RoPE, cache and softmax in one launch
    sampler         top-k, top-p, temperature, draw and the repetition-aware second draw
    conv            Snake, causal dilated or transposed convolution, bias, activation, residual
    convnext        depthwise causal convolution and LayerNorm
"""

// The program around the kernels: one job from a file, its outputs once per thread order to another. See msl.py.
//
// Job, little-endian: u32 kernel, grid[3], threadgroup[3], orders, buffers; per buffer u64 bytes, u64 is_output, data.
#undef device
#undef constant
#undef kernel
#undef thread
#undef threadgroup

struct Buffer {
  std::vector<char> initial;
  void* memory;
  bool output;
};

static void must_read(void* to, size_t bytes, FILE* file) {
  if (bytes && fread(to, 1, bytes, file) != bytes) shim::fail("the job file is short");
}

int main(int, char** argv) {
  FILE* in = fopen(argv[1], "rb");
  FILE* out = fopen(argv[2], "wb");
  if (!in || !out) shim::fail("cannot open the job's files");
  uint head[9];
  must_read(head, sizeof head, in);
  std::vector<Buffer> buffers(head[8]);
  for (Buffer& b : buffers) {
    uint64_t info[2];
    must_read(info, sizeof info, in);
    b.initial.resize(info[0]);
    b.output = info[1];
    must_read(b.initial.data(), info[0], in);
  }
  fclose(in);
  for (uint order = 0; order < head[7]; order++) {
    std::vector<void*> memory;
    shim::machine.outputs.clear();
    for (Buffer& b : buffers) {  // malloc to the byte: ASan guards both ends
      b.memory = malloc(b.initial.size());
      if (!b.initial.empty()) memcpy(b.memory, b.initial.data(), b.initial.size());
      memory.push_back(b.memory);
      if (!b.output) continue;
      shim::machine.outputs.emplace_back();
      shim::machine.outputs.back().memory = (char*)b.memory;
      shim::machine.outputs.back().bytes = b.initial.size();
      shim::machine.outputs.back().begin();
    }
    shim::machine.body = [&](const shim::Ids& ids) { shim_kernels[head[0]](ids, memory.data()); };
    shim::run_grid(head + 1, head + 4, shim::Order(order), 7);
    for (Buffer& b : buffers) {
      if (b.output) fwrite(b.memory, 1, b.initial.size(), out);
      free(b.memory);
    }
  }
  fclose(out);
  return 0;
}

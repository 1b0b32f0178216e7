// A GPU of one core: runs a grid threadgroup by threadgroup, each thread as a fiber that yields only where threads
// meet.
//
// Threads meet at a threadgroup barrier or at a simd-wide operation. Everything between two meetings runs in an order
// the caller picks (forward, backward, shuffled), so a missing barrier shows as a result that depends on the order, and
// threads that wait at different meetings show as a deadlock. Outputs and threadgroup memory start as NaN.
//
// A barrier orders only the memory it names. What was written to the other kind before is hidden behind it, as if it had
// not arrived yet, until a barrier that names that kind, or the end of the group; a thread's own writes are hidden too.
#pragma once
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "types.h"

#if defined(__SANITIZE_ADDRESS__)
#define SHIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHIM_ASAN 1
#endif
#endif
#if SHIM_ASAN
#include <sanitizer/asan_interface.h>
#endif
#define SHIM_UNWATCHED __attribute__((no_sanitize("address"), no_sanitize("undefined")))

namespace shim {

const uint SIMD = 32;                        // threads of a simdgroup
const uint MAX_THREADS = 1024;               // of a threadgroup
const size_t MAX_THREADGROUP_BYTES = 32768;  // of threadgroup memory
const size_t STACK_BYTES = 128 << 10;        // of a fiber; sanitizers need wide frames
const size_t SLOT_BYTES = 16;                // what one lane shows to its simdgroup

// The attributes a kernel may ask for, by their names in the language.
struct Ids {
  uint3 thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid;
  uint3 threads_per_threadgroup, threads_per_grid, threadgroups_per_grid;
  uint thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup;
  uint simdgroups_per_threadgroup, threads_per_simdgroup;
};

enum State { READY, AT_SIMD, AT_BARRIER, DONE };

// Where a stack of its own goes on. Contexts can do this too, but each change between them asks the system about signals,
// and has ASan forget what it knows of the stack: they only begin a fiber where the compiler can jump by itself.
struct Place {
  ucontext_t context;
#if defined(__x86_64__)
  bool begun;
  void* jump[5];
#endif
};

#if defined(__x86_64__)
__attribute__((noinline)) SHIM_UNWATCHED inline void change(Place& here, Place& there) {
  here.begun = true;
  if (__builtin_setjmp(here.jump)) return;
  if (!there.begun) setcontext(&there.context);
  __builtin_longjmp(there.jump, 1);
}
#else
inline void change(Place& here, Place& there) { swapcontext(&here.context, &there.context); }
#endif

struct Fiber {
  Place place;
  State state;
  Ids ids;
  const char* operation;  // where it waits: name and line
  int line;
  int flags;  // of a barrier
  alignas(16) unsigned char slot[SLOT_BYTES];
  std::unique_ptr<char[]> stack;
  void* fake_stack;
};

// What a simdgroup's lanes showed at their last meeting.
struct Snapshot {
  alignas(16) unsigned char slot[SIMD][SLOT_BYTES];
  uint active;
};

// What a barrier can order.
enum { DEVICE = 1, THREADGROUP = 2 };

// Memory that threads share.
struct Block {
  char* memory;
  size_t bytes;
  std::vector<char> visible;  // as all threads see it
  std::vector<char> hidden;   // what was written behind an unordered barrier, where `late` is set
  std::vector<char> late;

  void begin() { visible.assign(memory, memory + bytes); }

  // A barrier that does not name this memory: what was written since the last one that did disappears.
  void hide() {
    if (!memcmp(memory, visible.data(), bytes)) return;
    hidden.resize(bytes);
    late.resize(bytes);
    for (size_t i = 0; i < bytes; i++)
      if (memory[i] != visible[i]) hidden[i] = memory[i], late[i] = 1;
    memcpy(memory, visible.data(), bytes);
  }

  // One that does, or the group's end: it is there.
  void show() {
    for (size_t i = 0; i < late.size(); i++)
      if (late[i] && memory[i] == visible[i]) memory[i] = hidden[i];
    late.clear();
    hidden.clear();
    begin();
  }
};

struct Machine {
  Place scheduler;
  std::vector<Fiber> fibers;
  Fiber* current = nullptr;
  std::vector<Snapshot> snapshots;
  std::function<void(const Ids&)> body;
  uint64_t group = 0;
  std::map<const void*, Block> threadgroup_memory;  // by declaration
  std::vector<Block> outputs;
  size_t threadgroup_bytes = 0;
  void* fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  size_t scheduler_stack_bytes = 0;
};
static Machine machine;

[[noreturn]] inline void fail(const char* what, const char* a = "", const char* b = "") {
  fprintf(stderr, "SHIM ERROR: ");
  fprintf(stderr, what, a, b);
  if (machine.current)
    fprintf(stderr, " [group %lu thread %u]", (unsigned long)machine.group,
            machine.current->ids.thread_index_in_threadgroup);
  fprintf(stderr, "\n");
  fflush(stderr);
  _exit(3);
}

SHIM_UNWATCHED inline void to_scheduler() {
  Fiber* me = machine.current;
#if SHIM_ASAN
  __sanitizer_start_switch_fiber(me->state == DONE ? nullptr : &me->fake_stack, machine.scheduler_stack,
                                 machine.scheduler_stack_bytes);
#endif
  change(me->place, machine.scheduler);
#if SHIM_ASAN
  __sanitizer_finish_switch_fiber(me->fake_stack, &machine.scheduler_stack, &machine.scheduler_stack_bytes);
#endif
}

SHIM_UNWATCHED inline void to_fiber(Fiber& fiber) {
  machine.current = &fiber;
#if SHIM_ASAN
  __sanitizer_start_switch_fiber(&machine.fake_stack, fiber.stack.get(), STACK_BYTES);
#endif
  change(machine.scheduler, fiber.place);
#if SHIM_ASAN
  __sanitizer_finish_switch_fiber(machine.fake_stack, nullptr, nullptr);
#endif
}

inline void fiber_main() {
#if SHIM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &machine.scheduler_stack, &machine.scheduler_stack_bytes);
#endif
  machine.body(machine.current->ids);
  machine.current->state = DONE;
  to_scheduler();
  abort();
}

// Its stack is made, or left by a thread of the group before.
inline void begin(Fiber& fiber) {
  if (!fiber.stack) fiber.stack.reset(new char[STACK_BYTES]);
#if SHIM_ASAN
  __asan_unpoison_memory_region(fiber.stack.get(), STACK_BYTES);
#endif
#if defined(__x86_64__)
  fiber.place.begun = false;
#endif
  ucontext_t& context = fiber.place.context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get();
  context.uc_stack.ss_size = STACK_BYTES;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
}

SHIM_UNWATCHED inline void wait(State state, const char* operation, int line, int flags = 0) {
  machine.current->state = state;
  machine.current->operation = operation;
  machine.current->line = line;
  machine.current->flags = flags;
  to_scheduler();
}

// Memory of one `threadgroup` declaration: shared by the group, its own heap block (so that ASan guards its ends), NaN.
inline void* threadgroup_memory(const void* declaration, size_t bytes) {
  Block& block = machine.threadgroup_memory[declaration];
  if (!block.memory) {
    block.memory = (char*)malloc(bytes);
    block.bytes = bytes;
    memset(block.memory, 0xFF, bytes);
    block.begin();
    machine.threadgroup_bytes += bytes;
    if (machine.threadgroup_bytes > MAX_THREADGROUP_BYTES) fail("more than 32 KiB of threadgroup memory");
  }
  return block.memory;
}

// A simdgroup meets when each of its threads waits at the same operation or has returned.
SHIM_UNWATCHED inline bool release_simdgroup(uint index, uint threads) {
  const uint begin = index * SIMD, end = std::min(threads, begin + SIMD);
  Fiber* first = nullptr;
  for (uint i = begin; i < end; i++) {
    Fiber& f = machine.fibers[i];
    if (f.state == DONE) continue;
    if (f.state != AT_SIMD) return false;
    if (!first) first = &f;
    if (f.operation != first->operation && strcmp(f.operation, first->operation)) {
      machine.current = &f;
      fail("divergent simd operations: %s and %s", first->operation, f.operation);
    }
    if (f.line != first->line) {
      machine.current = &f;
      fail("threads of one simdgroup meet at two different calls of %s", f.operation);
    }
  }
  if (!first) return false;
  Snapshot& snapshot = machine.snapshots[index];
  snapshot.active = 0;
  for (uint i = begin; i < end; i++) {
    Fiber& f = machine.fibers[i];
    if (f.state != AT_SIMD) continue;
    snapshot.active |= 1u << (i - begin);
    memcpy(snapshot.slot[i - begin], f.slot, SLOT_BYTES);
    f.state = READY;
  }
  return true;
}

SHIM_UNWATCHED inline bool release_barrier(uint threads) {
  uint waiting = 0, done = 0;
  for (uint i = 0; i < threads; i++) {
    waiting += machine.fibers[i].state == AT_BARRIER;
    done += machine.fibers[i].state == DONE;
  }
  if (!waiting || waiting + done != threads) return false;
  machine.current = nullptr;
  if (done) fail("threadgroup_barrier is not reached by every thread of the group");
  const int flags = machine.fibers[0].flags;
  for (uint i = 0; i < threads; i++) {
    if (machine.fibers[i].line != machine.fibers[0].line) fail("threads meet at two different barriers");
    if (machine.fibers[i].flags != flags) fail("threads name different memory at one barrier");
    machine.fibers[i].state = READY;
  }
  for (Block& block : machine.outputs) flags & DEVICE ? block.show() : block.hide();
  for (auto& entry : machine.threadgroup_memory) flags & THREADGROUP ? entry.second.show() : entry.second.hide();
  return true;
}

// FORWARD and BACKWARD let one simdgroup run as far as it can before the next starts: the widest races there are.
// SHUFFLED lets all threads go from meeting to meeting in step, in random order.
enum Order { FORWARD, BACKWARD, SHUFFLED };

SHIM_UNWATCHED inline void run_threadgroup(uint threads, Order order, std::mt19937& random) {
  const uint simdgroups = (threads + SIMD - 1) / SIMD;
  machine.snapshots.assign(simdgroups, Snapshot());
  std::vector<uint> sequence(threads);
  for (uint i = 0; i < threads; i++) sequence[i] = order == BACKWARD ? threads - 1 - i : i;
  const uint step = order == SHUFFLED ? threads : SIMD;  // threads that go together
  for (uint done = 0; done < threads;) {
    if (order == SHUFFLED) std::shuffle(sequence.begin(), sequence.end(), random);
    bool progress = false;
    for (uint begin = 0; begin < threads;) {
      const uint end = std::min(threads, begin + (order == BACKWARD && begin == 0 ? (threads - 1) % SIMD + 1 : step));
      bool released = false;
      for (uint i = begin; i < end; i++) {
        Fiber& fiber = machine.fibers[sequence[i]];
        if (fiber.state != READY) continue;
        to_fiber(fiber);
        progress = true;
        done += fiber.state == DONE;
      }
      if (order != SHUFFLED) released = release_simdgroup(sequence[begin] / SIMD, threads);
      if (!released) begin = end;
    }
    if (order == SHUFFLED)
      for (uint s = 0; s < simdgroups; s++) progress |= release_simdgroup(s, threads);
    progress |= release_barrier(threads);
    if (!progress && done < threads) {
      machine.current = nullptr;
      fail("deadlock: threads of one group wait at different meetings");
    }
  }
  for (Block& block : machine.outputs) block.show();
  for (auto& entry : machine.threadgroup_memory) free(entry.second.memory);
  machine.threadgroup_memory.clear();
  machine.threadgroup_bytes = 0;
}

// As `dispatchThreads`: groups at the far edges of the grid may be smaller.
inline void run_grid(const uint grid[3], const uint group[3], Order order, uint seed) {
  std::mt19937 random(seed);
  const uint tx = std::min(group[0], grid[0]), ty = std::min(group[1], grid[1]), tz = std::min(group[2], grid[2]);
  if (tx * ty * tz > MAX_THREADS) fail("threadgroup larger than 1024 threads");
  const uint gx = (grid[0] + tx - 1) / tx, gy = (grid[1] + ty - 1) / ty, gz = (grid[2] + tz - 1) / tz;
  std::vector<uint64_t> groups(size_t(gx) * gy * gz);
  for (size_t i = 0; i < groups.size(); i++) groups[i] = i;
  if (order == BACKWARD) std::reverse(groups.begin(), groups.end());
  if (order == SHUFFLED) std::shuffle(groups.begin(), groups.end(), random);
  for (uint64_t g : groups) {
    machine.group = g;
    const uint x = g % gx, y = g / gx % gy, z = g / (uint64_t(gx) * gy);
    const uint ex = std::min(tx, grid[0] - x * tx), ey = std::min(ty, grid[1] - y * ty),
               ez = std::min(tz, grid[2] - z * tz), threads = ex * ey * ez;
    if (machine.fibers.size() < threads) machine.fibers.resize(threads);
    for (uint i = 0; i < threads; i++) {
      Fiber& fiber = machine.fibers[i];
      fiber.state = READY;
      Ids& id = fiber.ids;
      id.thread_position_in_threadgroup = uint3(i % ex, i / ex % ey, i / (ex * ey));
      id.threadgroup_position_in_grid = uint3(x, y, z);
      id.thread_position_in_grid = id.thread_position_in_threadgroup + uint3(x * tx, y * ty, z * tz);
      id.threads_per_threadgroup = uint3(ex, ey, ez);
      id.threads_per_grid = uint3(grid[0], grid[1], grid[2]);
      id.threadgroups_per_grid = uint3(gx, gy, gz);
      id.thread_index_in_threadgroup = i;
      id.thread_index_in_simdgroup = i % SIMD;
      id.simdgroup_index_in_threadgroup = i / SIMD;
      id.simdgroups_per_threadgroup = (threads + SIMD - 1) / SIMD;
      id.threads_per_simdgroup = SIMD;
      begin(fiber);
    }
    run_threadgroup(threads, order, random);
  }
}

}  // namespace shim

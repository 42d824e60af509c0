//! The seccomp filter of tier 2. It refuses system calls that no namespace confines: keyrings belong to the user, inside
//! and outside alike, and `bpf`, `userfaultfd`, `perf_event_open` and `io_uring` have a history of sandbox escapes.

/// One instruction of classic BPF: opcode, jump if true, jump if false, operand (`struct sock_filter`).
struct BpfInstruction(u16, u8, u8, u32);

const BPF_LOAD: u16 = 0x20;
const BPF_JUMP_IF_EQUAL: u16 = 0x15;
const BPF_JUMP_IF_AT_LEAST: u16 = 0x35;
const BPF_RETURN: u16 = 0x06;

const SECCOMP_ALLOW: u32 = 0x7fff_0000;
/// `SECCOMP_RET_ERRNO` with `EPERM`.
const SECCOMP_REFUSE: u32 = 0x0005_0001;

/// Offsets in `struct seccomp_data`.
const OFFSET_SYSCALL: u32 = 0;
const OFFSET_ARCHITECTURE: u32 = 4;

/// Marks system calls of the x32 ABI, which have numbers of their own.
const X32_SYSCALL_BIT: u32 = 0x4000_0000;

/// The audit number of the architecture, and the numbers of `add_key`, `request_key`, `keyctl`, `bpf`, `userfaultfd`,
/// `perf_event_open`, `io_uring_setup`, `io_uring_enter`, `io_uring_register`.
#[cfg(target_arch = "x86_64")]
const DENIED_SYSCALLS: (u32, [u32; 9]) = (0xc000_003e, [248, 249, 250, 321, 323, 298, 425, 426, 427]);
#[cfg(target_arch = "aarch64")]
const DENIED_SYSCALLS: (u32, [u32; 9]) = (0xc000_00b7, [217, 218, 219, 280, 282, 241, 425, 426, 427]);

/// Returns the filter in the format that the kernel and `bwrap --seccomp` read.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn build_seccomp_filter() -> Option<Vec<u8>> {
    let (architecture, syscalls) = DENIED_SYSCALLS;
    // Four instructions, one per system call, then "allow", then "refuse". A jump counts from the next instruction.
    let refusal = syscalls.len() + 5;
    let jump_to_refusal = |from: usize| u8::try_from(refusal - from - 1).unwrap_or(u8::MAX);
    let mut program = vec![
        // Another architecture (32-bit programs) has other numbers: refuse all of its system calls.
        BpfInstruction(BPF_LOAD, 0, 0, OFFSET_ARCHITECTURE),
        BpfInstruction(BPF_JUMP_IF_EQUAL, 0, jump_to_refusal(1), architecture),
        BpfInstruction(BPF_LOAD, 0, 0, OFFSET_SYSCALL),
        BpfInstruction(BPF_JUMP_IF_AT_LEAST, jump_to_refusal(3), 0, X32_SYSCALL_BIT),
    ];
    program.extend(
        syscalls.iter().zip(4..).map(|(call, at)| BpfInstruction(BPF_JUMP_IF_EQUAL, jump_to_refusal(at), 0, *call)),
    );
    program.extend([BpfInstruction(BPF_RETURN, 0, 0, SECCOMP_ALLOW), BpfInstruction(BPF_RETURN, 0, 0, SECCOMP_REFUSE)]);
    let encode = |BpfInstruction(opcode, if_true, if_false, operand): &BpfInstruction| {
        let [a, b] = opcode.to_ne_bytes();
        let [c, d, e, f] = operand.to_ne_bytes();
        [a, b, *if_true, *if_false, c, d, e, f]
    };
    Some(program.iter().flat_map(encode).collect())
}

/// Returns no filter: the system call numbers of this architecture are not listed here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn build_seccomp_filter() -> Option<Vec<u8>> {
    None
}

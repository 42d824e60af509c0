//! Calls that a worker in tier 2 may not make, because no namespace stands between them and the machine: keyrings belong to
//! the user inside and outside alike, and the others have a history of leading out.

/// A line of the kernel's filter language: what to do, where to go on if it is so and if not, and a number.
struct BpfInstruction(u16, u8, u8, u32);

const BPF_LOAD: u16 = 0x20;
const BPF_JUMP_IF_EQUAL: u16 = 0x15;
const BPF_JUMP_IF_AT_LEAST: u16 = 0x35;
const BPF_RETURN: u16 = 0x06;

const SECCOMP_ALLOW: u32 = 0x7fff_0000;
/// As if the user had no right to it.
const SECCOMP_REFUSE: u32 = 0x0005_0001;

/// `add_key`, `request_key`, `keyctl`; `bpf`, `userfaultfd`, `perf_event_open`; the three of `io_uring`.
#[cfg(target_arch = "x86_64")]
const DENIED_SYSCALLS: (u32, [u32; 9]) = (0xc000_003e, [248, 249, 250, 321, 323, 298, 425, 426, 427]);
#[cfg(target_arch = "aarch64")]
const CALLS: (u32, [u32; 9]) = (0xc000_00b7, [217, 218, 219, 280, 282, 241, 425, 426, 427]);

/// The filter, as the kernel reads it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn build_seccomp_filter() -> Option<Vec<u8>> {
    let (machine, calls) = DENIED_SYSCALLS;
    // Four lines, the calls, one line that allows, one that refuses; a jump counts from the line after it.
    let refusal = calls.len() + 5;
    let refuse = |from: usize| u8::try_from(refusal - from - 1).unwrap_or(u8::MAX);
    let mut lines = vec![
        // Programs for another kind of processor have other numbers.
        BpfInstruction(BPF_LOAD, 0, 0, 4),
        BpfInstruction(BPF_JUMP_IF_EQUAL, 0, refuse(1), machine),
        BpfInstruction(BPF_LOAD, 0, 0, 0),
        // So have those for a mix of two.
        BpfInstruction(BPF_JUMP_IF_AT_LEAST, refuse(3), 0, 0x4000_0000),
    ];
    lines.extend(calls.iter().zip(4..).map(|(call, at)| BpfInstruction(BPF_JUMP_IF_EQUAL, refuse(at), 0, *call)));
    lines.extend([BpfInstruction(BPF_RETURN, 0, 0, SECCOMP_ALLOW), BpfInstruction(BPF_RETURN, 0, 0, SECCOMP_REFUSE)]);
    let bytes = |BpfInstruction(what, then, otherwise, number): &BpfInstruction| {
        let [a, b] = what.to_ne_bytes();
        let [c, d, e, f] = number.to_ne_bytes();
        [a, b, *then, *otherwise, c, d, e, f]
    };
    Some(lines.iter().flat_map(bytes).collect())
}

/// Nobody has looked up the numbers of this one.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn filter() -> Option<Vec<u8>> {
    None
}

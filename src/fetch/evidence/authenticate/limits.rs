//! Limits on keys and signatures. Lists of checksums have theirs in `package`.

/// The longest armored text that is read, in bytes. Keys with a picture and a thousand signatures
/// of other people fit.
pub(super) const MAX_ARMOR_BYTES: usize = 1024 * 1024;

/// Maximum number of packets in a key block. Each signature of another key on the key is a packet, and old
/// keys have thousands.
pub(super) const MAX_PACKETS: usize = 8192;

/// Maximum number of signatures of a key over itself; each takes up to some milliseconds to check.
pub(super) const MAX_SELF_SIGNATURES: usize = 128;

/// The longest signature file that is read, in bytes; an ordinary one has a few hundred.
pub(super) const MAX_SIGNATURE_BYTES: usize = 64 * 1024;

/// Maximum number of packets in a signature file.
pub(super) const MAX_SIGNATURE_PACKETS: usize = 64;

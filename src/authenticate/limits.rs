//! How much of foreign evidence is read.

/// The longest armored text that is read, in bytes. Keys with a picture and a thousand signatures
/// of other people fit.
pub(super) const MAX_ARMOR_BYTES: usize = 1024 * 1024;

/// How many packets of a key block are read. A signature of another key on a key is a packet.
pub(super) const MAX_PACKETS: usize = 8192;

/// How many signatures of a key over itself are checked; each costs up to some milliseconds.
pub(super) const MAX_SELF_SIGNATURES: usize = 128;

/// The longest signature file that is read, in bytes; an ordinary one has a few hundred.
pub(super) const MAX_SIGNATURE_BYTES: usize = 64 * 1024;

/// How many packets of a signature file are read.
pub(super) const MAX_SIGNATURE_PACKETS: usize = 64;

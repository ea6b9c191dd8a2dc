//! Numbers that random settings are made from.

/// Numbers that look random (xorshift), the same for a seed on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    /// Small seeds differ in few bits, which the first numbers would show.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    pub(crate) fn one_of<'a>(&mut self, things: &[&'a str]) -> &'a str {
        things[self.below(things.len())]
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

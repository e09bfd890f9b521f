//! The hash of a text in blocks, so that each block can be checked, reused and hashed on its own.
//!
//! BLAKE3 is a tree. The value of each aligned block is a node of it, and the hash of the whole text follows from those values
//! alone. So a text that is too large to keep in memory needs to be hashed only once: a block that is read again later is checked
//! against its value, and the hash after a change takes the values of the blocks that stay.

use blake3::hazmat::{
    ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root,
};

use crate::splice::{Piece, Splices};
use crate::{ContentHash, Span};

/// The hash of a text, with the value of each block in the hash tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockHashes {
    len: usize,
    values: Vec<ChainingValue>,
    root: ContentHash,
}

/// Hashes a text block by block, from its start.
#[derive(Debug)]
pub struct BlockHasher {
    len: usize,
    values: Vec<ChainingValue>,
    /// The hash of a text that is only one block.
    only: Option<ContentHash>,
}

impl BlockHasher {
    /// Starts to hash a text of `len` bytes.
    pub fn new(len: usize) -> Self {
        Self { len, values: Vec::with_capacity(len.div_ceil(BlockHashes::BLOCK)), only: None }
    }

    /// Adds the next block, as [`BlockHashes::block`] divides the text.
    ///
    /// # Panics
    /// If the block does not have the length of the text's next block.
    pub fn push(&mut self, block: &[u8]) {
        let at = BlockHashes::block_of(self.len, self.values.len());
        assert_eq!(block.len(), at.len(), "a text is hashed in blocks of fixed size");
        if self.len <= BlockHashes::BLOCK {
            self.only = Some(ContentHash::of(block));
        } else {
            self.values.push(hash_block(at.start(), block));
        }
    }

    /// The hashes, once all blocks were added.
    pub fn finish(self) -> BlockHashes {
        let root = match self.only {
            Some(only) => only,
            None if self.len == 0 => ContentHash::of(&[]),
            None => merge_root(&self.values, self.len),
        };
        BlockHashes { len: self.len, values: self.values, root }
    }

    fn push_known(&mut self, value: ChainingValue) {
        self.values.push(value);
    }
}

impl BlockHashes {
    /// The size of the blocks: a power of two, as the hash tree needs, and small enough to stay in a processor's cache.
    pub const BLOCK: usize = 256 << 10;

    /// The hash of the whole text.
    pub fn root(&self) -> ContentHash {
        self.root
    }

    /// The length of the text.
    pub fn text_len(&self) -> usize {
        self.len
    }

    /// The span of the block with this number; empty past the end of the text.
    pub fn block(&self, number: usize) -> Span {
        Self::block_of(self.len, number)
    }

    fn block_of(len: usize, number: usize) -> Span {
        let start = number.saturating_mul(Self::BLOCK).min(len);
        Span::new(start, len.min(start + Self::BLOCK))
    }

    /// Whether `bytes` is the content of a block.
    pub fn verify(&self, number: usize, bytes: &[u8]) -> bool {
        let at = self.block(number);
        if at.len() != bytes.len() {
            return false;
        }
        match self.values.get(number) {
            Some(value) => hash_block(at.start(), bytes) == *value,
            None => number == 0 && ContentHash::of(bytes) == self.root,
        }
    }

    /// The hash of the text with `splices` applied. Blocks that stay where they are are not read: `read` appends the bytes of
    /// the other spans to its buffer.
    pub fn hash_after<E>(
        &self,
        splices: &Splices,
        mut read: impl FnMut(Span, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<ContentHash, E> {
        assert_eq!(splices.base_len(), self.len, "splices apply only to the text they were made for");
        let new_len = splices.new_len();
        let mut hasher = BlockHasher::new(new_len);
        let mut block = Vec::with_capacity(Self::BLOCK.min(new_len));
        for piece in splices.pieces() {
            match piece {
                Piece::Insert(mut bytes) => {
                    while !bytes.is_empty() {
                        let room = Self::block_of(new_len, hasher.values.len()).len() - block.len();
                        let (now, later) = bytes.split_at(room.min(bytes.len()));
                        block.extend_from_slice(now);
                        bytes = later;
                        hasher.push_full(&mut block);
                    }
                }
                Piece::Keep(span) => {
                    let mut at = span.start();
                    while at < span.end() {
                        let next = hasher.values.len();
                        let there = Self::block_of(new_len, next);
                        // A text of one block has no tree, so its block has no value.
                        let stays = new_len > Self::BLOCK
                            && block.is_empty()
                            && at == there.start()
                            && there == self.block(next);
                        match self.values.get(next) {
                            Some(&value) if stays && there.end() <= span.end() => {
                                hasher.push_known(value);
                                at = there.end();
                            }
                            _ => {
                                let end = span.end().min(at + there.len() - block.len());
                                read(Span::new(at, end), &mut block)?;
                                at = end;
                                hasher.push_full(&mut block);
                            }
                        }
                    }
                }
            }
        }
        Ok(hasher.finish().root)
    }
}

impl BlockHasher {
    /// Adds the block if it is complete, and empties it.
    fn push_full(&mut self, block: &mut Vec<u8>) {
        if block.len() == BlockHashes::block_of(self.len, self.values.len()).len() {
            self.push(block);
            block.clear();
        }
    }
}

fn hash_block(at: usize, block: &[u8]) -> ChainingValue {
    blake3::Hasher::new().set_input_offset(at as u64).update(block).finalize_non_root()
}

/// The hash of a text of more than one block.
fn merge_root(values: &[ChainingValue], len: usize) -> ContentHash {
    let (left, right, left_len) = split(values, len);
    let (left, right) = (merge(left, left_len), merge(right, len - left_len));
    ContentHash::from_blake3(merge_subtrees_root(&left, &right, Mode::Hash))
}

fn merge(values: &[ChainingValue], len: usize) -> ChainingValue {
    if let [value] = values {
        return *value;
    }
    let (left, right, left_len) = split(values, len);
    merge_subtrees_non_root(&merge(left, left_len), &merge(right, len - left_len), Mode::Hash)
}

fn split(values: &[ChainingValue], len: usize) -> (&[ChainingValue], &[ChainingValue], usize) {
    let left_len = left_subtree_len(len as u64) as usize;
    let (left, right) = values.split_at(left_len / BlockHashes::BLOCK);
    (left, right, left_len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splice;
    use proptest::prelude::*;

    fn hashes_of(text: &[u8]) -> BlockHashes {
        let mut hasher = BlockHasher::new(text.len());
        text.chunks(BlockHashes::BLOCK).for_each(|block| hasher.push(block));
        hasher.finish()
    }

    fn text(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at / 7 % 251) as u8).collect()
    }

    #[test]
    fn the_root_is_the_hash_of_the_text() {
        let block = BlockHashes::BLOCK;
        for len in [0, 1, block - 1, block, block + 1, 2 * block, 3 * block + 5, 8 * block, 11 * block + 1024]
        {
            let text = text(len);
            assert_eq!(hashes_of(&text).root(), ContentHash::of(&text), "{len} bytes");
        }
    }

    #[test]
    fn verifies_each_block() {
        let text = text(2 * BlockHashes::BLOCK + 10);
        let hashes = hashes_of(&text);
        for number in 0..3 {
            let mut block = hashes.block(number).of(&text).to_vec();
            assert!(hashes.verify(number, &block));
            assert!(!hashes.verify(number + 1, &block));
            block[5] ^= 1;
            assert!(!hashes.verify(number, &block));
        }
        assert!(!hashes.verify(3, &[]), "there is no such block");
    }

    #[test]
    fn reads_only_the_blocks_that_change() {
        let text = text(6 * BlockHashes::BLOCK);
        let hashes = hashes_of(&text);
        let read_by = |splices: &Splices| {
            let mut read = 0;
            let hash = hashes.hash_after(splices, |span, block| {
                read += span.len();
                block.extend_from_slice(span.of(&text));
                Ok::<(), ()>(())
            });
            assert_eq!(hash, Ok(splices.hash_after(&text)));
            read
        };
        let at = Span::new(3 * BlockHashes::BLOCK + 9, 3 * BlockHashes::BLOCK + 12);
        assert!(read_by(&Splices::one(text.len(), at, b"new".to_vec())) <= BlockHashes::BLOCK, "same length");
        assert!(read_by(&Splices::one(text.len(), at, b"longer".to_vec())) <= 3 * BlockHashes::BLOCK);
        let end = Span::new(text.len(), text.len());
        assert_eq!(read_by(&Splices::one(text.len(), end, b"appended".to_vec())), 0);
        let rest = Span::new(BlockHashes::BLOCK, text.len());
        assert_eq!(
            read_by(&Splices::one(text.len(), rest, Vec::new())),
            BlockHashes::BLOCK,
            "one block is left"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn the_hash_after_a_change_is_that_of_the_new_text(
            len in 0usize..1_200_000,
            cuts in proptest::collection::vec((any::<u32>(), 0usize..300_000), 0..6),
        ) {
            let text = text(len);
            let hashes = hashes_of(&text);
            let mut cuts: Vec<_> = cuts.into_iter().map(|(at, size)| (at as usize % (len + 1), size)).collect();
            cuts.sort();
            let list = cuts.chunks_exact(2)
                .map(|pair| Splice { at: Span::new(pair[0].0, pair[1].0), insert: vec![7; pair[0].1].into() })
                .collect();
            let splices = Splices::new(len, list).unwrap();
            let hash = hashes.hash_after(&splices, |span, block| {
                block.extend_from_slice(span.of(&text));
                Ok::<(), ()>(())
            });
            prop_assert_eq!(hash, Ok(splices.hash_after(&text)));
        }
    }
}

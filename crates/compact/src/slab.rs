//! A slab: values with small integer names that are reused after removal. Indexes never leave the domain.
//! It grows by whole chunks, so that a large one neither moves its values nor keeps room for twice as many.

/// Large enough that a chunk's own cost vanishes, small enough that a half-used one does not matter.
const CHUNK: usize = 256;

#[derive(Clone, Debug)]
pub struct Slab<T> {
    chunks: Vec<Vec<Option<T>>>,
    free: Vec<u32>,
    used: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { chunks: Vec::new(), free: Vec::new(), used: 0 }
    }
}

impl<T> Slab<T> {
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            *self.cell(index) = Some(value);
            return index;
        }
        let index = self.used as u32;
        self.used += 1;
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(Some(value)),
            Some(_) => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(Some(value));
                self.chunks.push(chunk);
            }
            // The first chunk grows as it must: most events are small.
            None => self.chunks.push(vec![Some(value)]),
        }
        index
    }

    pub fn remove(&mut self, index: u32) -> T {
        let value = self.cell(index).take().expect("removed a slab cell that is empty");
        self.free.push(index);
        value
    }

    pub fn len(&self) -> usize {
        self.used - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The living values in order of their index: stable for one state, not across a rebuild.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten().flatten()
    }

    fn cell(&mut self, index: u32) -> &mut Option<T> {
        &mut self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, index: u32) -> &T {
        let cell = &self.chunks[index as usize / CHUNK][index as usize % CHUNK];
        cell.as_ref().expect("read a slab cell that is empty")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.cell(index).as_mut().expect("wrote a slab cell that is empty")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_dense_reused_and_stable_across_chunks() {
        let mut slab = Slab::default();
        for n in 0..1_000u32 {
            assert_eq!(slab.insert(n), n);
        }
        assert_eq!(slab.remove(300), 300);
        assert_eq!(slab.insert(7), 300);
        assert_eq!((slab[300], slab[999], slab.len()), (7, 999, 1_000));
        assert_eq!(slab.values().count(), 1_000);
    }
}

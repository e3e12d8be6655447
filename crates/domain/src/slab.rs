//! A slab: values with small integer names that are reused after removal. Indexes never leave the domain.

#[derive(Clone, Debug)]
pub struct Slab<T> {
    cells: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { cells: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.cells[index as usize] = Some(value);
            return index;
        }
        self.cells.push(Some(value));
        (self.cells.len() - 1) as u32
    }

    pub fn remove(&mut self, index: u32) -> T {
        let value = self.cells[index as usize].take().expect("removed a slab cell that is empty");
        self.free.push(index);
        value
    }

    pub fn len(&self) -> usize {
        self.cells.len() - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The living values in order of their index: stable for one state, not across a rebuild.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.cells.iter().flatten()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, index: u32) -> &T {
        self.cells[index as usize].as_ref().expect("read a slab cell that is empty")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.cells[index as usize].as_mut().expect("wrote a slab cell that is empty")
    }
}

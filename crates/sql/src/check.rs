//! Prepares every statement of a crate, so that a test finds what a database does not understand. Not for servers.

use std::path::{Path, PathBuf};

use crate::{Sql, SqlError};

impl Sql {
    /// Prepares every file `*.sql` below this folder and returns how many there are. Each begins with a line that says
    /// what it does and one that names its parameters.
    pub async fn prepare_all(&self, folder: &Path) -> Result<usize, SqlError> {
        let mut files = Vec::new();
        find(folder, &mut files).map_err(|error| {
            SqlError::Configuration(format!("the folder {} cannot be read: {error}", folder.display()))
        })?;
        let mut tx = self.begin().await?;
        for file in &files {
            let wrong = |what: String| SqlError::Statement(format!("{}: {what}", file.display()));
            let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
            if text.lines().take(2).filter(|line| line.starts_with("-- ")).count() < 2 {
                return Err(wrong(
                    "two lines of comment, what it does and its parameters, come first".to_owned(),
                ));
            }
            tx.prepare(&text).await.map_err(|error| wrong(error.to_string()))?;
        }
        Ok(files.len())
    }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "sql") {
            files.push(path);
        }
    }
    Ok(())
}

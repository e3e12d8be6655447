//! One row of an answer; columns are counted from 0.

use crate::{SqlError, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Of the query, for the message when a column is not what was expected.
    pub(crate) query: &'static str,
    pub(crate) values: Vec<Value>,
}

impl Row {
    pub fn int(&self, column: usize) -> Result<i64, SqlError> {
        self.int_or_none(column)?.ok_or_else(|| self.is_not(column, "a number"))
    }

    pub fn text(&self, column: usize) -> Result<&str, SqlError> {
        self.text_or_none(column)?.ok_or_else(|| self.is_not(column, "text"))
    }

    pub fn blob(&self, column: usize) -> Result<&[u8], SqlError> {
        self.blob_or_none(column)?.ok_or_else(|| self.is_not(column, "bytes"))
    }

    pub fn int_or_none(&self, column: usize) -> Result<Option<i64>, SqlError> {
        match self.values.get(column) {
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(Value::Null) => Ok(None),
            Some(Value::Text(_) | Value::Blob(_)) | None => Err(self.is_not(column, "a number")),
        }
    }

    pub fn text_or_none(&self, column: usize) -> Result<Option<&str>, SqlError> {
        match self.values.get(column) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            Some(Value::Int(_) | Value::Blob(_)) | None => Err(self.is_not(column, "text")),
        }
    }

    pub fn blob_or_none(&self, column: usize) -> Result<Option<&[u8]>, SqlError> {
        match self.values.get(column) {
            Some(Value::Blob(bytes)) => Ok(Some(bytes)),
            Some(Value::Null) => Ok(None),
            Some(Value::Int(_) | Value::Text(_)) | None => Err(self.is_not(column, "bytes")),
        }
    }

    /// A flag that was stored as 0 or 1, or a comparison's result.
    pub fn flag(&self, column: usize) -> Result<bool, SqlError> {
        Ok(self.int(column)? != 0)
    }

    /// For the caller's own check of a column: "a role that exists".
    pub fn is_not(&self, column: usize, expected: &str) -> SqlError {
        SqlError::Damaged(format!("column {column} of {} is not {expected}", self.query))
    }
}

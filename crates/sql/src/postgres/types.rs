//! Our values as PostgreSQL's types, both ways: bigint, text, bytea, and what an expression may give.

use std::error::Error;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::{Query, Row, SqlError, Value};

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) if *kind == Type::INT8 => number.to_sql(kind, out),
            Value::Int(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Value::Text(text) if *kind == Type::TEXT => text.to_sql(kind, out),
            Value::Blob(bytes) if *kind == Type::BYTEA => bytes.to_sql(kind, out),
            Value::Int(_) => Err(format!("a number was given where {kind} is needed").into()),
            Value::Text(_) => Err(format!("text was given where {kind} is needed").into()),
            Value::Blob(_) => Err(format!("bytes were given where {kind} is needed").into()),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::INT4, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

pub(super) fn row_of(query: &'static Query, row: &tokio_postgres::Row) -> Result<Row, SqlError> {
    let values = (0..row.len()).map(|column| value_of(row, column)).collect::<Result<Vec<_>, _>>();
    let wrong = |what: String| SqlError::Statement(format!("{}: {what}", query.name));
    Ok(Row { query: query.name, values: values.map_err(wrong)? })
}

fn value_of(row: &tokio_postgres::Row, column: usize) -> Result<Value, String> {
    let kind = row.columns()[column].type_();
    let value = if *kind == Type::INT8 {
        row.try_get::<_, Option<i64>>(column).map(Value::from)
    } else if *kind == Type::INT4 {
        row.try_get::<_, Option<i32>>(column).map(|number| Value::from(number.map(i64::from)))
    } else if *kind == Type::BOOL {
        row.try_get::<_, Option<bool>>(column).map(Value::from)
    } else if *kind == Type::TEXT {
        row.try_get::<_, Option<String>>(column).map(Value::from)
    } else if *kind == Type::BYTEA {
        row.try_get::<_, Option<Vec<u8>>>(column).map(Value::from)
    } else {
        return Err(format!("column {column} is of type {kind}, which SQLite does not have: cast it"));
    };
    value.map_err(|error| error.to_string())
}

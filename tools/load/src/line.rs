use serde_json::Value;

/// Whether users who do not wait in line get nothing: the sale, as everybody sees it, has a line and is not over.
pub fn has_line(sale: &Value) -> bool {
    sale["line"].is_object() && sale["state"] != "closed"
}

//! Expands a script of `lua/`: lines that begin with `--- @` are replaced by text. `lua/README.md` lists the
//! directives. The build script does it; the crate includes this module only for its tests.

use std::collections::BTreeMap;

pub(crate) struct Field {
    pub(crate) name: &'static str,
    kind: &'static str,
    doc: &'static [&'static str],
}

macro_rules! sale_fields {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ident,)*) => {
        pub(crate) const FIELDS: &[Field] = &[
            $(Field { name: stringify!($name), kind: stringify!($type), doc: &[$($doc),*] },)*
        ];
    };
}

include!("sale_fields.rs");

impl Field {
    /// The type as Redis's `struct` spells it. `counters.rs` does the same for Rust.
    fn format(&self) -> &'static str {
        match self.kind {
            "u32" => "I4",
            "EpochMs" => "I6",
            "u8" | "bool" => "B",
            other => panic!("there is no field of type {other}"),
        }
    }

    fn bytes(&self) -> usize {
        self.format().strip_prefix('I').map_or(1, |bytes| bytes.parse().expect("a digit"))
    }
}

fn bytes(fields: &[Field]) -> usize {
    fields.iter().map(Field::bytes).sum()
}

fn format<'a>(fields: impl IntoIterator<Item = &'a Field>) -> String {
    fields.into_iter().fold(">".to_owned(), |format, field| format + field.format())
}

/// The table of the fields, for readers.
pub(crate) fn layout(fields: &[Field]) -> String {
    let mut text = format!(
        "`sale:{{tag}}` is big endian, {} bytes. Times (`_ms`) are in milliseconds since the Unix epoch.\n\n",
        bytes(fields)
    );
    text.push_str("| offset | bytes | field | holds |\n| --- | --- | --- | --- |\n");
    for (at, field) in fields.iter().enumerate() {
        let doc = field.doc.concat();
        text.push_str(&format!("| {} | {} | `{}` |{doc} |\n", bytes(&fields[..at]), field.bytes(), field.name));
    }
    let format = format(fields);
    text.push_str(&format!(
        "\nTo read it by hand:\n\n    \
         EVAL \"return {{struct.unpack('{format}', redis.call('GET', KEYS[1]))}}\" 1 sale:{{SALE:ROUND:LANE}}\n"
    ));
    text
}

pub(crate) struct Expander<'a> {
    pub(crate) fields: &'a [Field],
    pub(crate) constants: &'a [(&'a str, u32)],
    pub(crate) fragments: BTreeMap<String, String>,
}

impl Expander<'_> {
    pub(crate) fn expand(&self, file: &str, text: &str) -> Result<String, String> {
        let mut expanded = String::new();
        self.append(&mut expanded, file, text, "", &mut Vec::new())?;
        Ok(expanded)
    }

    fn append<'a>(
        &'a self,
        to: &mut String,
        file: &str,
        text: &'a str,
        indent: &str,
        within: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        let mut lines = text.lines().enumerate().peekable();
        while let Some((at, line)) = lines.next() {
            let code = line.trim_start();
            let indent = format!("{indent}{}", &line[..line.len() - code.len()]);
            let error = |what: String| format!("{file}:{}: {what}", at + 1);
            let Some(directive) = code.strip_prefix("--- @") else {
                if code.starts_with("--") && code.trim_start_matches('-').trim_start().starts_with('@') {
                    return Err(error(format!("a directive begins with `--- @`, not {code:?}")));
                }
                to.push_str(if code.is_empty() { "" } else { &indent });
                to.push_str(code);
                to.push('\n');
                continue;
            };
            let mut words: Vec<&str> = directive.split_whitespace().collect();
            while let Some((_, more)) = lines.next_if(|(_, next)| next.trim_start().starts_with("---  ")) {
                words.extend(more.trim_start_matches([' ', '-']).split_whitespace());
            }
            let (name, words) = words.split_first().ok_or_else(|| error("a directive without a name".into()))?;
            if let ("include", [fragment]) = (*name, words) {
                let text =
                    self.fragments.get(*fragment).ok_or_else(|| error(format!("there is no fragment {fragment}")))?;
                if within.contains(fragment) {
                    return Err(error(format!("fragment {fragment} includes itself")));
                }
                to.push_str(&format!("{indent}{code}\n"));
                within.push(*fragment);
                self.append(to, &format!("lua/fragments/{fragment}.lua"), text, &indent, within)?;
                within.pop();
                continue;
            }
            for line in self.lines(name, words).map_err(error)? {
                to.push_str(&format!("{indent}{line}\n"));
            }
        }
        Ok(())
    }

    /// The lines that replace a directive other than `include`.
    fn lines(&self, name: &str, words: &[&str]) -> Result<Vec<String>, String> {
        match (name, words) {
            ("constant", [constant]) => match self.constants.iter().find(|known| known.0 == *constant) {
                Some((name, value)) => Ok(vec![format!("local {name} = {value}")]),
                None => Err(format!("there is no constant {constant}")),
            },
            ("has", ["plan"]) => Ok(vec![format!("local has_plan = #sale > {PLAN_AT}")]),
            ("read", ["plan"]) => Ok(vec![format!("local plan = string.sub(sale, {})", PLAN_AT + 1)]),
            ("write", ["plan"]) => Ok(vec![
                // Overwrites the rest of a longer plan.
                format!("local blank = string.rep(' ', #sale - {PLAN_AT} - #plan)"),
                format!("redis.call('SETRANGE', sale_key, {PLAN_AT}, plan .. blank)"),
            ]),
            ("read", [_, ..]) => Ok(self.read(&self.named(words)?)),
            ("write", [_, ..]) => Ok(self.write(&self.named(words)?)),
            ("create", [_, ..]) => Ok(vec![self.create(&self.named(words)?)]),
            _ => Err(format!("there is no directive `--- @{name}` of {} words", words.len())),
        }
    }

    /// The indices of the named fields, in the order of the list.
    fn named(&self, names: &[&str]) -> Result<Vec<usize>, String> {
        let mut named = Vec::new();
        for name in names {
            let at = self.fields.iter().position(|field| field.name == *name);
            named.push(at.ok_or_else(|| format!("there is no field {name} in src/sale_fields.rs"))?);
        }
        named.sort_unstable();
        if named.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("a field is named twice".into());
        }
        Ok(named)
    }

    /// Declares locals read from `sale`: one call for everything from the first to the last of them.
    fn read(&self, named: &[usize]) -> Vec<String> {
        let (Some(first), Some(last)) = (named.first(), named.last()) else { return Vec::new() };
        let name = |at: usize| if named.contains(&at) { self.fields[at].name } else { "_" };
        let names: Vec<&str> = (*first..=*last).map(name).collect();
        let (names, format) = (names.join(", "), format(&self.fields[*first..=*last]));
        let unpack = match bytes(&self.fields[..*first]) {
            0 => format!("struct.unpack('{format}', sale)"),
            before => format!("struct.unpack('{format}', sale, {})", before + 1),
        };
        if names.len() + unpack.len() < 110 {
            vec![format!("local {names} = {unpack}")]
        } else {
            vec![format!("local {names} ="), format!("  {unpack}")]
        }
    }

    /// Writes locals to `sale_key`: one call for each run of adjacent fields.
    fn write(&self, named: &[usize]) -> Vec<String> {
        let runs = named.chunk_by(|at, next| at + 1 == *next);
        let calls = runs.map(|run| {
            let fields = || run.iter().map(|at| &self.fields[*at]);
            let names: Vec<&str> = fields().map(|field| field.name).collect();
            let offset = bytes(&self.fields[..run[0]]);
            let packed = format!("struct.pack('{}', {})", format(fields()), names.join(", "));
            format!("redis.call('SETRANGE', sale_key, {offset}, {packed})")
        });
        calls.collect()
    }

    /// Writes the whole string to `sale_key`, with 0 for fields that are not named.
    fn create(&self, named: &[usize]) -> String {
        let value = |(at, field): (usize, &Field)| if named.contains(&at) { field.name } else { "0" };
        let values: Vec<&str> = self.fields.iter().enumerate().map(value).collect();
        format!("redis.call('SET', sale_key, struct.pack('{}', {}))", format(self.fields), values.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn field(name: &'static str, kind: &'static str) -> Field {
        Field { name, kind, doc: &[] }
    }

    const ABCDE: [Field; 5] =
        [field("a", "u32"), field("b", "EpochMs"), field("c", "u8"), field("d", "u32"), field("e", "bool")];

    fn expand(text: &str) -> Result<String, String> {
        let fragments = [
            ("set", "-- Sets x.\nx = 1\n"),
            ("twice", "do\n  --- @include set\n\n  --- @include set\nend\n"),
            ("round", "--- @include about\n"),
            ("about", "\n--- @include round\n"),
            ("wrong", "\n--- @read z\n"),
        ];
        let fragments = fragments.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        Expander { fields: &ABCDE, constants: &[("MOST", 7)], fragments }.expand("lua/x.lua", text)
    }

    #[track_caller]
    fn expands(text: &str, to: &str) {
        assert_eq!(expand(text).unwrap(), format!("{to}\n"));
    }

    #[test]
    fn fields_are_read_with_one_call_from_the_first_to_the_last() {
        expands("--- @read a", "local a = struct.unpack('>I4', sale)");
        expands("  --- @read b d", "  local b, _, d = struct.unpack('>I6BI4', sale, 5)");
        expands("--- @read d a", "local a, _, _, d = struct.unpack('>I4I6BI4', sale)");
        expands("--- @read e", "local e = struct.unpack('>B', sale, 16)");
    }

    #[test]
    fn neighbours_are_written_with_one_call() {
        expands(
            "--- @write d a\n---   b",
            "redis.call('SETRANGE', sale_key, 0, struct.pack('>I4I6', a, b))\n\
             redis.call('SETRANGE', sale_key, 11, struct.pack('>I4', d))",
        );
        expands("--- @create b e", "redis.call('SET', sale_key, struct.pack('>I4I6BI4B', 0, b, 0, 0, e))");
    }

    #[test]
    fn the_table_says_where_each_field_is_and_what() {
        let table = layout(FIELDS);
        assert!(table.contains("\n| 4 | 4 | `last_unit` | The last unit. |\n"), "{table}");
        assert!(table.contains("\n| 52 | 6 | `cooldown_until_ms` | When the cooldown"), "{table}");
        assert!(layout(&ABCDE).contains(" is big endian, 16 bytes. "));
    }

    #[test]
    fn the_plan_follows_the_fields_with_room_for_more_of_them() {
        assert!(bytes(FIELDS) <= PLAN_AT, "the fields have grown into the plan");
        expands("--- @has plan", "local has_plan = #sale > 128");
        expands("--- @read plan", "local plan = string.sub(sale, 129)");
        expands(
            "--- @write plan",
            "local blank = string.rep(' ', #sale - 128 - #plan)\nredis.call('SETRANGE', sale_key, 128, plan .. blank)",
        );
    }

    #[test]
    fn fragments_are_included_as_deep_as_they_go() {
        expands("--- @constant MOST", "local MOST = 7");
        let inner = "  --- @include set\n  -- Sets x.\n  x = 1";
        expands("--- @include twice\n--- a", &format!("--- @include twice\ndo\n{inner}\n\n{inner}\nend\n--- a"));
    }

    #[test]
    fn what_is_wrong_is_told_in_one_line() {
        for (text, told) in [
            ("\n--- @read a z", "lua/x.lua:2: there is no field z in src/sale_fields.rs"),
            ("--- @read a a", "lua/x.lua:1: a field is named twice"),
            ("--- @include z", "lua/x.lua:1: there is no fragment z"),
            ("--- @include wrong", "lua/fragments/wrong.lua:2: there is no field z in src/sale_fields.rs"),
            ("--- @include round", "lua/fragments/about.lua:2: fragment round includes itself"),
            ("--- @constant LEAST", "lua/x.lua:1: there is no constant LEAST"),
            ("--- @raed a", "lua/x.lua:1: there is no directive `--- @raed` of 1 words"),
            ("--- @read", "lua/x.lua:1: there is no directive `--- @read` of 0 words"),
            ("--- @has a", "lua/x.lua:1: there is no directive `--- @has` of 1 words"),
            ("--- @", "lua/x.lua:1: a directive without a name"),
            ("  -- @read a", "lua/x.lua:1: a directive begins with `--- @`, not \"-- @read a\""),
        ] {
            assert_eq!(expand(text).unwrap_err(), told);
        }
    }
}

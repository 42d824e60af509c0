//! What the parser says of a file.

use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use ast_grep_core::{AstGrep, Node};
use ast_grep_language::SupportLang;

use crate::spellings::Inside;

pub(crate) struct Syntax(AstGrep<StrDoc<SupportLang>>);

impl Syntax {
    pub(crate) fn of(extension: &str, text: &str) -> Self {
        let language = match extension {
            "rs" => SupportLang::Rust,
            "py" => SupportLang::Python,
            "js" => SupportLang::JavaScript,
            "ts" => SupportLang::TypeScript,
            _ => SupportLang::Go,
        };
        Syntax(language.ast_grep(text))
    }

    pub(crate) fn is_whole(&self) -> bool {
        !self.0.root().dfs().any(|node| node.is_error() || node.is_missing())
    }

    /// What the byte lies in.
    pub(crate) fn inside(&self, at: usize) -> Inside {
        let mut node: Node<'_, _> = self.0.root();
        loop {
            let kind = node.kind().into_owned();
            if kind.contains("comment") {
                return Inside::Comment;
            }
            if kind.contains("string") || kind == "char_literal" || kind == "regex" {
                return Inside::String;
            }
            let Some(child) = node.children().find(|child| child.range().contains(&at)) else { return Inside::Code };
            node = child;
        }
    }
}

//! Converts formulas in TeX to Unicode if possible; otherwise their source is shown.

/// The formula as one line; `None` if a part of it has no such form.
pub(super) fn unicode(tex: &str) -> Option<String> {
    let mut reader = TexReader { rest: tex, depth: 0 };
    let shown = reader.group(None)?;
    let words: Vec<&str> = shown.split_whitespace().collect();
    Some(words.join(" "))
}

/// Largest depth of a formula.
const MAX_DEPTH: usize = 20;

/// Reads a formula.
struct TexReader<'t> {
    rest: &'t str,
    depth: usize,
}

impl TexReader<'_> {
    /// Reads up to a closing brace, or to the end.
    fn group(&mut self, end: Option<char>) -> Option<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut shown = String::new();
        loop {
            let Some(character) = self.next() else {
                self.depth -= 1;
                return end.is_none().then_some(shown);
            };
            match character {
                '}' if end == Some('}') => {
                    self.depth -= 1;
                    return Some(shown);
                }
                '}' | '&' | '%' | '#' => return None,
                '{' => shown.push_str(&self.group(Some('}'))?),
                '^' => shown.push_str(&raised(&self.argument()?, SUPERSCRIPTS)?),
                '_' => shown.push_str(&raised(&self.argument()?, SUBSCRIPTS)?),
                '\\' => shown.push_str(&self.command()?),
                '~' => shown.push(' '),
                '-' => shown.push('−'),
                '\'' => shown.push('′'),
                other => shown.push(other),
            }
        }
    }

    /// Reads the argument of a command or mark.
    fn argument(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        match self.next()? {
            '{' => self.group(Some('}')),
            '\\' => self.command(),
            character => Some(character.to_string()),
        }
    }

    /// Reads a command.
    fn command(&mut self) -> Option<String> {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if length == 0 {
            return match self.next()? {
                ',' | ';' | ':' | ' ' | '!' => Some(" ".to_owned()),
                mark @ ('{' | '}' | '%' | '$' | '&' | '#' | '_') => Some(mark.to_string()),
                '|' => Some("‖".to_owned()),
                _ => None,
            };
        }
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        match name {
            "frac" | "dfrac" | "tfrac" => {
                let (over, under) = (self.argument()?, self.argument()?);
                Some(format!("{}/{}", grouped(&over), grouped(&under)))
            }
            "sqrt" if !self.rest.starts_with('[') => {
                Some(format!("√{}", grouped(&self.argument()?)))
            }
            "text" | "mathrm" | "operatorname" | "mathbf" | "mathit" | "textbf" | "textit" => {
                self.argument()
            }
            "mathbb" => double(&self.argument()?),
            "left" | "right" | "displaystyle" | "limits" | "big" | "Big" => Some(String::new()),
            "vec" => Some(format!("{}\u{20d7}", self.argument()?)),
            "hat" => Some(format!("{}\u{302}", self.argument()?)),
            "bar" | "overline" => Some(format!("{}\u{304}", self.argument()?)),
            "log" | "ln" | "sin" | "cos" | "tan" | "exp" | "max" | "min" | "lim" | "det" => {
                // A function is separated from its argument.
                let apart =
                    self.rest.starts_with(|c: char| c.is_alphanumeric() || c == ' ' || c == '\\');
                Some(format!("{name}{}", if apart { " " } else { "" }))
            }
            name => symbol(name).map(str::to_owned),
        }
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }
}

/// Puts a text in parentheses if it is more than one word.
fn grouped(text: &str) -> String {
    if text.chars().all(char::is_alphanumeric) { text.to_owned() } else { format!("({text})") }
}

/// Characters and their superscripts.
const SUPERSCRIPTS: (&str, &str) = ("0123456789+−=()nijkT′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱʲᵏᵀ′");
/// Characters and their subscripts.
const SUBSCRIPTS: (&str, &str) = ("0123456789+−=()aeoxijrnmk", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓᵢⱼᵣₙₘₖ");

/// Converts a text to superscript or subscript.
fn raised(text: &str, (plain, small): (&str, &str)) -> Option<String> {
    let one = |character: char| {
        let at = plain.chars().position(|plain| plain == character)?;
        small.chars().nth(at)
    };
    text.chars().filter(|c| *c != ' ').map(one).collect()
}

/// Converts letters to blackboard bold.
fn double(text: &str) -> Option<String> {
    let one = |character: char| match character {
        'R' => Some('ℝ'),
        'N' => Some('ℕ'),
        'Z' => Some('ℤ'),
        'Q' => Some('ℚ'),
        'C' => Some('ℂ'),
        _ => None,
    };
    text.chars().map(one).collect()
}

/// The symbol of a name.
fn symbol(name: &str) -> Option<&'static str> {
    const SYMBOLS: [(&str, &str); 73] = [
        ("alpha", "α"),
        ("beta", "β"),
        ("gamma", "γ"),
        ("delta", "δ"),
        ("epsilon", "ε"),
        ("varepsilon", "ε"),
        ("zeta", "ζ"),
        ("eta", "η"),
        ("theta", "θ"),
        ("kappa", "κ"),
        ("lambda", "λ"),
        ("mu", "μ"),
        ("nu", "ν"),
        ("xi", "ξ"),
        ("pi", "π"),
        ("rho", "ρ"),
        ("sigma", "σ"),
        ("tau", "τ"),
        ("phi", "φ"),
        ("varphi", "φ"),
        ("chi", "χ"),
        ("psi", "ψ"),
        ("omega", "ω"),
        ("Gamma", "Γ"),
        ("Delta", "Δ"),
        ("Theta", "Θ"),
        ("Lambda", "Λ"),
        ("Pi", "Π"),
        ("Sigma", "Σ"),
        ("Phi", "Φ"),
        ("Psi", "Ψ"),
        ("Omega", "Ω"),
        ("times", " × "),
        ("cdot", " · "),
        ("div", " ÷ "),
        ("pm", " ± "),
        ("le", " ≤ "),
        ("leq", " ≤ "),
        ("ge", " ≥ "),
        ("geq", " ≥ "),
        ("ne", " ≠ "),
        ("neq", " ≠ "),
        ("approx", " ≈ "),
        ("equiv", " ≡ "),
        ("sim", " ∼ "),
        ("propto", " ∝ "),
        ("to", " → "),
        ("rightarrow", " → "),
        ("Rightarrow", " ⇒ "),
        ("implies", " ⇒ "),
        ("iff", " ⇔ "),
        ("leftarrow", " ← "),
        ("mapsto", " ↦ "),
        ("infty", "∞"),
        ("partial", "∂"),
        ("nabla", "∇"),
        ("sum", "∑"),
        ("prod", "∏"),
        ("int", "∫"),
        ("in", " ∈ "),
        ("notin", " ∉ "),
        ("subset", " ⊂ "),
        ("subseteq", " ⊆ "),
        ("cup", " ∪ "),
        ("cap", " ∩ "),
        ("emptyset", "∅"),
        ("forall", "∀"),
        ("exists", "∃"),
        ("neg", "¬"),
        ("ldots", "…"),
        ("dots", "…"),
        ("quad", "  "),
        ("qquad", "   "),
    ];
    SYMBOLS.iter().find(|(known, _)| *known == name).map(|(_, shown)| *shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_formulas_become_unicode_and_others_stay() {
        let cases = [
            ("E = mc^2", Some("E = mc²")),
            (r"\alpha_1 + \beta^{-1}", Some("α₁ + β⁻¹")),
            (r"\frac{a+b}{2}", Some("(a+b)/2")),
            (r"\sqrt{x} \le \infty", Some("√x ≤ ∞")),
            (r"\int_0^1 f(x)\,dx", Some("∫₀¹ f(x) dx")),
            (r"x \in \mathbb{R}", Some("x ∈ ℝ")),
            (r"\begin{matrix} a & b \end{matrix}", None),
            (r"x^{\alpha}", None),
            ("{", None),
            ("}", None),
        ];
        for (tex, shown) in cases {
            assert_eq!(unicode(tex).as_deref(), shown, "{tex}");
        }
        assert_eq!(unicode(&"{".repeat(10_000)), None);
    }
}

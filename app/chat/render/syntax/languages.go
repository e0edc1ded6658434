package syntax

import "slices"

// Quotes that many languages share.
var (
	double   = quote{open: `"`, close: `"`, prefix: true}
	single   = quote{open: `'`, close: `'`, prefix: true}
	letter   = quote{open: `'`, close: `'`, char: true}
	backtick = quote{open: "`", close: "`", multi: true}
	rawTick  = quote{open: "`", close: "`", multi: true, raw: true}
	triple   = quote{open: `"""`, close: `"""`, multi: true, prefix: true}
	tripleS  = quote{open: `'''`, close: `'''`, multi: true, prefix: true}
	slashes  = [][2]string{{"/*", "*/"}}
)

// languages lists what is known. It is called once.
func languages() []*Language {
	return slices.Concat(systems(), scripts(), data())
}

// systems lists compiled languages.
func systems() []*Language {
	return []*Language{
		{name: "Go", spec: spec{
			aliases: "go golang",
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map " +
				"package range return select struct switch type var",
			types: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune " +
				"string uint uint8 uint16 uint32 uint64 uintptr",
			builtins: "append cap clear close complex copy delete imag len make max min new panic print println real recover",
			values:   "true false nil iota", line: "//", block: slashes, quotes: []quote{double, letter, rawTick},
		}},
		{name: "C", spec: spec{
			aliases: "c h",
			keywords: "auto break case const continue default do else enum extern for goto if inline register restrict return " +
				"sizeof static struct switch typedef union volatile while _Alignas _Alignof _Atomic _Generic _Noreturn " +
				"_Static_assert _Thread_local",
			types: "bool char double float int long short signed unsigned void size_t ssize_t int8_t int16_t int32_t int64_t " +
				"uint8_t uint16_t uint32_t uint64_t uintptr_t FILE",
			values: "true false NULL", line: "//", block: slashes, quotes: []quote{double, letter}, markers: "#",
		}},
		{name: "C++", spec: spec{
			aliases: "cpp c++ cc cxx hpp arduino ino",
			keywords: "alignas alignof and asm auto break case catch class concept const consteval constexpr constinit " +
				"const_cast continue co_await co_return co_yield decltype default delete do dynamic_cast else enum explicit " +
				"export extern final for friend goto if inline mutable namespace new noexcept not operator or override private " +
				"protected public register reinterpret_cast requires return sizeof static static_assert static_cast struct " +
				"switch template this thread_local throw try typedef typeid typename union using virtual volatile while",
			types: "bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t size_t " +
				"string vector map set optional variant unique_ptr shared_ptr int8_t int16_t int32_t int64_t uint8_t uint16_t " +
				"uint32_t uint64_t",
			values: "true false nullptr NULL", line: "//", block: slashes, quotes: []quote{double, letter}, markers: "#",
		}},
		{name: "C#", spec: spec{
			aliases: "csharp cs c#",
			keywords: "abstract as async await base break case catch checked class const continue default delegate do else " +
				"enum event explicit extern finally fixed for foreach get global goto if implicit in init interface internal is " +
				"lock namespace new operator out override params partial private protected public readonly record ref required " +
				"return sealed set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using var " +
				"virtual volatile when where while with yield",
			types: "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong " +
				"ushort void",
			values: "true false null", line: "//", block: slashes, quotes: []quote{triple, double, letter}, markers: "#",
			upper: true,
		}},
		{name: "Java", spec: spec{
			aliases: "java",
			keywords: "abstract assert break case catch class const continue default do else enum extends final finally for " +
				"goto if implements import instanceof interface native new non-sealed package permits private protected public " +
				"record return sealed static strictfp super switch synchronized this throw throws transient try var volatile " +
				"when while yield",
			types: "boolean byte char double float int long short void", values: "true false null",
			line: "//", block: slashes, quotes: []quote{triple, double, letter}, markers: "@", upper: true,
		}},
		{name: "Kotlin", spec: spec{
			aliases: "kotlin kt kts",
			keywords: "abstract actual annotation as break by catch class companion const constructor continue crossinline " +
				"data do dynamic else enum expect external final finally for fun get if import in infix init inline inner " +
				"interface internal is lateinit noinline object open operator out override package private protected public " +
				"reified return sealed set super suspend tailrec this throw try typealias typeof val value var vararg when " +
				"where while",
			values: "true false null", line: "//", block: slashes, nest: true, quotes: []quote{triple, double, letter},
			markers: "@", upper: true,
		}},
		{name: "Scala", spec: spec{
			aliases: "scala sc",
			keywords: "abstract case catch class def derives do else end enum export extends extension final finally for " +
				"given if implicit import inline lazy match new object opaque open override package private protected return " +
				"sealed super then this throw trait transparent try type using val var while with yield",
			values: "true false null", line: "//", block: slashes, nest: true, quotes: []quote{triple, double, letter},
			markers: "@", upper: true,
		}},
		{name: "Swift", spec: spec{
			aliases: "swift",
			keywords: "actor any as associatedtype async await borrowing break case catch class consuming continue " +
				"convenience default defer deinit didSet do dynamic else enum extension fallthrough fileprivate final for func " +
				"get guard if import in indirect infix init inout internal is isolated lazy let mutating nonisolated " +
				"nonmutating open operator optional override postfix precedencegroup prefix private protocol public repeat " +
				"required rethrows return self Self set some static struct subscript super switch throw throws try typealias " +
				"unowned var weak where while willSet",
			values: "true false nil", line: "//", block: slashes, nest: true, quotes: []quote{triple, double}, markers: "@#",
			upper: true,
		}},
		{name: "Rust", spec: spec{
			aliases: "rust rs",
			keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod " +
				"move mut pub ref return self Self static struct super trait type union unsafe use where while yield",
			types:  "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
			values: "true false", line: "//", block: slashes, nest: true,
			quotes: []quote{{open: `r#"`, close: `"#`, multi: true, raw: true}, {open: `"`, close: `"`, multi: true}, letter},
			upper:  true, ident: "!",
		}},
		{name: "Zig", spec: spec{
			aliases: "zig",
			keywords: "addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const " +
				"continue defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend " +
				"opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable " +
				"usingnamespace var volatile while",
			types: "anyerror bool f16 f32 f64 f128 i8 i16 i32 i64 i128 isize noreturn type u1 u8 u16 u32 u64 u128 usize void " +
				"comptime_int comptime_float",
			values: "true false null undefined", line: "//", quotes: []quote{double, letter}, markers: "@",
		}},
		{name: "Dart", spec: spec{
			aliases: "dart flutter",
			keywords: "abstract as assert async await base break case catch class const continue covariant default deferred " +
				"do else enum export extends extension external factory final finally for get hide if implements import in " +
				"interface is late library mixin new on operator part required rethrow return sealed set show static super " +
				"switch sync this throw try typedef var when while with yield",
			types: "bool double dynamic int num void", values: "true false null", line: "//", block: slashes,
			quotes: []quote{triple, tripleS, double, single}, markers: "@", upper: true,
		}},
		{name: "Haskell", spec: spec{
			aliases: "haskell hs elm purescript",
			keywords: "as case class data default deriving do else family forall foreign hiding if import in infix infixl " +
				"infixr instance let mdo module newtype of pattern port proc qualified rec then type where",
			values: "True False", line: "--", block: [][2]string{{"{-", "-}"}}, nest: true, quotes: []quote{double, letter},
			upper: true,
		}},
		{name: "OCaml", spec: spec{
			aliases: "ocaml ml fsharp fs f#",
			keywords: "and as assert begin class constraint do done downto else end exception external for fun function " +
				"functor if in include inherit initializer lazy let match member method module mutable namespace new nonrec " +
				"object of open or override private rec sig static struct then to try type use val virtual when while with yield",
			types: "bool bytes char exn float int list option string unit", values: "true false",
			block: [][2]string{{"(*", "*)"}}, nest: true, line: "//",
			quotes: []quote{triple, double, letter}, upper: true,
		}},
		{name: "Protocol Buffers", spec: spec{
			aliases: "proto protobuf",
			keywords: "enum extend extensions import map message oneof option optional package public repeated required " +
				"reserved returns rpc service stream syntax to weak",
			types:  "bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64",
			values: "true false",
			line:   "//", block: slashes, quotes: []quote{double, single},
		}},
		{name: "Solidity", spec: spec{
			aliases: "solidity sol",
			keywords: "abstract as assembly break case catch constant constructor continue contract delete do else emit enum " +
				"event external fallback for from function if immutable import indexed interface internal is library mapping " +
				"memory modifier new override payable pragma private public pure receive return returns storage struct super " +
				"this throw try type unchecked using view virtual while calldata",
			types: "address bool bytes bytes32 int int256 string uint uint8 uint256", values: "true false", line: "//",
			block: slashes, quotes: []quote{double, single},
		}},
	}
}

// scripts lists languages that are run from their source.
func scripts() []*Language {
	js := spec{
		aliases: "js javascript mjs cjs jsx node",
		keywords: "as async await break case catch class const continue debugger default delete do else export extends " +
			"finally for from function get if import in instanceof let new of return set static super switch this throw try " +
			"typeof var void while with yield",
		builtins: "Array Boolean BigInt Date Error JSON Map Math Number Object Promise Proxy Reflect RegExp Set String " +
			"Symbol WeakMap console document fetch globalThis module process require window",
		values: "true false null undefined NaN Infinity", line: "//", block: slashes,
		quotes: []quote{double, single, backtick}, ident: "$", markers: "@", regex: true, upper: true,
	}
	ts := js
	ts.aliases = "ts typescript tsx mts cts"
	ts.keywords += " abstract accessor asserts declare enum implements infer interface is keyof namespace override " +
		"private protected public readonly satisfies type unique"
	ts.types = "any bigint boolean never number object string symbol unknown"
	pyQuotes := []quote{triple, tripleS, double, single}
	return []*Language{
		{name: "JavaScript", spec: js},
		{name: "TypeScript", spec: ts},
		{name: "Python", spec: spec{
			aliases: "py python python3 py3 pyi ipython starlark bzl",
			keywords: "and as assert async await break case class continue def del elif else except finally for from global " +
				"if import in is lambda match nonlocal not or pass raise return try while with yield",
			types: "bool bytearray bytes complex dict float frozenset int list object set str tuple type",
			builtins: "abs all any ascii bin breakpoint callable chr classmethod compile delattr dir divmod enumerate eval " +
				"exec filter format getattr globals hasattr hash help hex id input isinstance issubclass iter len locals map max " +
				"memoryview min next oct open ord pow print property range repr reversed round setattr slice sorted " +
				"staticmethod sum super vars zip __import__ self cls",
			values: "True False None NotImplemented Ellipsis", line: "#", quotes: pyQuotes, markers: "@",
		}},
		{name: "Shell", spec: spec{
			aliases:  "sh bash shell zsh ksh ash fish",
			keywords: "case do done elif else esac fi for function if in select then time until while end begin switch",
			builtins: "alias apt awk brew cat cd chmod chown command cp curl cut declare docker echo eval exec exit export " +
				"find git go grep head jq kill let local ls make mkdir mv node npm npx pip popd printf pushd pwd python python3 " +
				"read readonly return rm sed set shift sleep sort source ssh sudo tail tar tee test touch tr trap type ulimit " +
				"umask unalias uniq unset wait wget xargs yarn",
			values: "true false", line: "#",
			quotes: []quote{{open: `"`, close: `"`, multi: true}, {open: `'`, close: `'`, multi: true, raw: true}}, ident: "-",
			sigils: "$",
		}},
		{
			name: "Terminal",
			spec: spec{aliases: "console terminal shell-session sh-session bash-session shellsession", own: scanConsole},
		},
		{name: "PowerShell", spec: spec{
			aliases: "powershell ps1 pwsh ps posh",
			keywords: "begin break catch class continue data define do dynamicparam else elseif end enum exit filter finally " +
				"for foreach from function hidden if in param process return static switch throw trap try until using var while",
			line: "#", block: [][2]string{{"<#", "#>"}},
			quotes: []quote{{open: `"`, close: `"`, multi: true, raw: true}, {open: `'`, close: `'`, multi: true, raw: true}},
			sigils: "$", ident: "-", fold: true,
		}},
		{name: "Batch", spec: spec{
			aliases:  "bat batch cmd dos",
			keywords: "call cd do echo else endlocal exit for goto if in not pause rem set setlocal shift start",
			line:     "rem REM ::", quotes: []quote{{open: `"`, close: `"`, raw: true}}, fold: true,
		}},
		{name: "Ruby", spec: spec{
			aliases: "rb ruby rails",
			keywords: "BEGIN END alias and begin break case class def defined? do else elsif end ensure extend for if in " +
				"include loop module next not or prepend private protected public raise redo require require_relative rescue " +
				"retry return self super then undef unless until when while yield",
			builtins: "attr_accessor attr_reader attr_writer puts print p format lambda proc", values: "true false nil",
			line: "#", quotes: []quote{double, single, backtick}, ident: "?!", sigils: "@$", regex: true, upper: true,
		}},
		{name: "PHP", spec: spec{
			aliases: "php php7 php8",
			keywords: "abstract and as break callable case catch class clone const continue declare default do echo else " +
				"elseif empty enum extends final finally fn for foreach function global if implements include include_once " +
				"instanceof insteadof interface isset list match namespace new or print private protected public readonly " +
				"require require_once return static switch throw trait try unset use var while xor yield php",
			types: "array bool float int iterable mixed never null object string void", values: "true false null", line: "// #",
			block:  slashes,
			quotes: []quote{{open: `"`, close: `"`, multi: true}, {open: `'`, close: `'`, multi: true}}, sigils: "$",
			upper: true,
		}},
		{name: "Perl", spec: spec{
			aliases: "pl perl pm",
			keywords: "and chomp cmp die do each else elsif eq for foreach ge gt if keys last le local lt map my ne next no " +
				"not open or our package print push redo require return say shift sort split sub undef unless until use values " +
				"while xor",
			line: "#", quotes: []quote{double, single}, sigils: "$@%", regex: true,
		}},
		{name: "Lua", spec: spec{
			aliases:  "lua luau",
			keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
			builtins: "assert error getmetatable io ipairs math next os pairs pcall print require select setmetatable string " +
				"table tonumber tostring type xpcall",
			values: "true false nil", line: "--", block: [][2]string{{"--[[", "]]"}},
			quotes: []quote{{open: "[[", close: "]]", multi: true, raw: true}, double, single},
		}},
		{name: "R", spec: spec{
			aliases: "r rlang", keywords: "break else for function if in next repeat return while library require",
			values: "TRUE FALSE NULL NA NaN Inf", line: "#", quotes: []quote{double, single, backtick}, ident: ".",
		}},
		{name: "Julia", spec: spec{
			aliases: "julia jl",
			keywords: "abstract baremodule begin break catch const continue do else elseif end export finally for function " +
				"global if import in isa let local macro module mutable primitive quote return struct try type using where while",
			values: "true false nothing missing NaN Inf", line: "#", block: [][2]string{{"#=", "=#"}}, nest: true,
			quotes: []quote{triple, double, letter}, markers: "@", ident: "!", upper: true,
		}},
		{name: "Elixir", spec: spec{
			aliases: "elixir ex exs erlang erl",
			keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end " +
				"fn for if import in not or quote raise receive require rescue super throw try unless unquote use when with",
			values: "true false nil", line: "#", quotes: []quote{triple, double, single}, markers: "@", ident: "?!", upper: true,
		}},
		{name: "Clojure", spec: spec{
			aliases: "clojure clj cljs edn lisp scheme elisp racket",
			keywords: "case cond def defmacro defmethod defmulti defn defn- defprotocol defrecord defun deftype define do " +
				"doseq dotimes fn for if if-let lambda let loop ns quote recur require set! setq throw try when when-let when-not",
			values: "true false nil t", line: ";", quotes: []quote{{open: `"`, close: `"`, multi: true}}, ident: "-?!*+/<>=",
			markers: ":",
		}},
		{name: "MATLAB", spec: spec{
			aliases: "matlab octave",
			keywords: "break case catch classdef continue else elseif end events for function global if methods otherwise " +
				"parfor persistent properties return spmd switch try while",
			values: "true false pi inf nan", line: "% #", quotes: []quote{double},
		}},
		{name: "Groovy", spec: spec{
			aliases: "groovy gradle jenkinsfile",
			keywords: "abstract as assert break case catch class continue def default do else enum extends final finally for " +
				"if implements import in instanceof interface new package private protected public return static super switch " +
				"this throw throws trait try var while",
			types: "boolean byte char double float int long short void", values: "true false null", line: "//", block: slashes,
			quotes: []quote{triple, tripleS, double, single}, markers: "@", upper: true,
		}},
		{name: "Vim script", spec: spec{
			aliases: "vim viml vimscript",
			keywords: "augroup autocmd call colorscheme command echo else elseif endfor endfunction endif endwhile execute " +
				"filetype finish for function highlight if imap inoremap let map nmap nnoremap noremap return set setlocal " +
				"silent source syntax unlet vmap vnoremap while",
			quotes: []quote{single},
		}},
	}
}

// data lists formats, queries, styles and markup.
func data() []*Language {
	return []*Language{
		{
			name: "JSON",
			spec: spec{
				aliases: "json jsonc json5 jsonl ndjson geojson", values: "true false null", line: "//", block: slashes,
				quotes: []quote{double, single}, keys: true,
			},
		},
		{
			name: "YAML",
			spec: spec{
				aliases: "yaml yml", values: "true false null yes no on off", line: "#",
				quotes: []quote{double, {open: `'`, close: `'`, raw: true}}, ident: "-./", markers: "&*!", own: scanYAML,
			},
		},
		{
			name: "TOML",
			spec: spec{
				aliases: "toml", values: "true false inf nan", line: "#",
				quotes: []quote{
					triple, {open: `'''`, close: `'''`, multi: true, raw: true}, double, {open: `'`, close: `'`, raw: true},
				},
				ident: "-", own: scanINI,
			},
		},
		{
			name: "INI",
			spec: spec{
				aliases: "ini cfg conf properties env dotenv editorconfig systemd desktop", values: "true false yes no on off",
				line: "# ;", quotes: []quote{double}, ident: "-", sigils: "$", own: scanINI,
			},
		},
		{name: "SQL", spec: spec{
			aliases: "sql mysql postgresql postgres plpgsql psql sqlite sqlite3 tsql plsql",
			keywords: "add all alter and any as asc begin between by case check column commit conflict constraint create " +
				"cross database declare default delete desc distinct do drop else end except exists explain extension for " +
				"foreign from full function grant group having if ilike in index inner insert intersect into is join key " +
				"lateral left like limit materialized natural not nothing offset on or order outer over partition primary " +
				"procedure references replace returning returns revoke right rollback row rows schema select sequence set " +
				"table temporary then to transaction trigger truncate union unique update using values vacuum view when " +
				"where window with",
			types: "bigint bigserial blob boolean bytea char date datetime decimal double float int integer interval json " +
				"jsonb numeric real serial smallint text time timestamp timestamptz tinyint uuid varchar",
			values: "true false null", line: "-- #", block: slashes,
			quotes: []quote{{open: `'`, close: `'`, multi: true, raw: true}, {open: `"`, close: `"`, raw: true}, rawTick},
			fold:   true,
		}},
		{name: "GraphQL", spec: spec{
			aliases: "graphql gql",
			keywords: "directive enum extend fragment implements input interface mutation on query repeatable scalar schema " +
				"subscription type union",
			types: "Boolean Float ID Int String", values: "true false null", line: "#", quotes: []quote{triple, double},
			sigils: "$", markers: "@", keys: true,
		}},
		{name: "CSS", spec: spec{
			aliases: "css", values: "inherit initial none unset auto", block: slashes,
			quotes: []quote{double, single}, ident: "-", markers: "@.#", keys: true, builtins: "important",
		}},
		{name: "SCSS", spec: spec{
			aliases: "scss sass less postcss", values: "inherit initial none unset auto", block: slashes, line: "//",
			quotes: []quote{double, single}, ident: "-", sigils: "$", markers: "@.#", keys: true, builtins: "important",
		}},
		{
			name: "HTML",
			spec: spec{aliases: "html htm xhtml vue svelte astro handlebars hbs jinja jinja2 ejs", own: scanMarkup},
		},
		{name: "XML", spec: spec{aliases: "xml svg xsl xslt plist xsd rss", own: scanMarkup}},
		{name: "Markdown", spec: spec{aliases: "md markdown mdx", own: scanMarkdown}},
		{name: "Diff", spec: spec{aliases: "diff patch udiff", own: scanDiff}},
		{name: "Dockerfile", spec: spec{
			aliases: "dockerfile docker containerfile",
			keywords: "FROM AS RUN CMD LABEL MAINTAINER EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD " +
				"STOPSIGNAL HEALTHCHECK SHELL",
			line: "#", quotes: []quote{double, single}, sigils: "$", ident: "-",
		}},
		{name: "Makefile", spec: spec{
			aliases: "make makefile mk just justfile cmake",
			keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override private undefine unexport " +
				"vpath function endfunction if elseif foreach endforeach set",
			line: "#", quotes: []quote{double, single}, sigils: "$", ident: "-.", keys: true,
		}},
		{name: "Terraform", spec: spec{
			aliases:  "hcl terraform tf",
			keywords: "data for for_each if in locals module moved output provider resource terraform variable dynamic",
			types:    "any bool list map number object set string tuple", values: "true false null", line: "# //",
			block:  slashes,
			quotes: []quote{double}, ident: "-",
		}},
		{name: "Nix", spec: spec{
			aliases: "nix", keywords: "assert else if in inherit let or rec then with", builtins: "builtins import map toString",
			values: "true false null", line: "#", block: slashes,
			quotes: []quote{{open: `''`, close: `''`, multi: true, raw: true}, {open: `"`, close: `"`, multi: true}}, ident: "-",
		}},
		{
			name: "Nginx",
			spec: spec{
				aliases: "nginx caddyfile caddy",
				keywords: "events http if location map server upstream listen server_name root index proxy_pass return rewrite " +
					"try_files include",
				values: "on off", line: "#", quotes: []quote{double, single}, sigils: "$",
			},
		},
		{name: "LaTeX", spec: spec{aliases: "tex latex bibtex", line: "%", markers: `\`}},
	}
}

import { type Problem, problemsOf, quoted, shown } from '../../base/problem.ts'

type Text = { text: string }
type Name = { name: string }
type Family = { version: 4 | 6 }

/** What is wrong with an SPF record (RFC 7208 §4.6.1, §12). */
export const spfProblem = problemsOf('spf', {
  version: () => 'the record does not begin with "v=spf1" and a space',
  too_long: ({ count, max }: { count: number; max: number }) =>
    `the record has ${count} characters; more than ${max} are not evaluated`,
  separator: () => 'a character that is not visible ASCII: terms are separated by spaces',
  term: ({ text }: Text) => `${quoted(text)} is not a term`,
  qualifier: ({ text }: Text) => `${quoted(text)}: a modifier takes no qualifier`,
  twice: ({ name }: Name) => `${shown(name, 20)}= occurs twice`,
  /** `meant`: the mechanism or modifier whose name is similar, with its colon or equals sign. */
  mechanism: ({ text, meant }: Text & { meant?: string | undefined }) =>
    `${quoted(text)} is not a mechanism${meant === undefined ? '' : `; write ${shown(meant, 20)}`}`,
  after_all: ({ text }: Text) => `"all" takes no value: ${quoted(text)} cannot follow it`,
  after_ptr: ({ text }: Text) => `"ptr" takes only a domain: ${quoted(text)} cannot follow it`,
  after: ({ text, name }: Text & Name) => `${quoted(text)} cannot follow ${quoted(name, 20)}`,
  no_domain: ({ name }: Name) => `${quoted(name, 20)} needs a colon and a domain`,
  no_address: ({ name }: Name) => `${quoted(name, 20)} needs a colon and an address`,
  address: ({ text, version }: Text & Family) => `${quoted(text)} is not an IPv${version} address`,
  /** `text` with its slashes. */
  prefix: ({ text, version }: Text & Family) =>
    `${shown(text, 21)} is not an IPv${version} prefix length (0 to ${version === 4 ? 32 : 128})`,
})

/** What is wrong with a domain in an SPF record (RFC 7208 §7.1). */
export const domainSpecProblem = problemsOf('spf_domain', {
  empty: () => 'the domain is empty',
  not_full: ({ text }: Text) => `${quoted(text, 63)} is not a full domain name`,
  address: ({ text }: Text) => `${shown(text, 15)} is an IP address, not a name: write ip4:${shown(text, 15)}`,
  number: ({ text }: Text) => `the name ends in ${quoted(text, 63)}, and no domain name ends in a number`,
  top_label: ({ text }: Text) => `the name ends in ${quoted(text, 63)}, which cannot be a top-level domain`,
})

/** What is wrong with a macro string (RFC 7208 §7). */
export const macroProblem = problemsOf('spf_macro', {
  character: () => 'a character that is not visible ASCII',
  percent: () => 'a "%" that does not begin a macro: write "%%" for a percent sign',
  letter: ({ text, letter }: Text & { letter: string }) =>
    `${shown(text, 20)}: ${quoted(letter, 1)} is not a macro letter`,
  explanation: ({ text, letter }: Text & { letter: string }) =>
    `${shown(text, 20)}: the macro letter ${quoted(letter, 1)} is allowed only in an explanation`,
  zero: ({ text }: Text) => `${shown(text, 20)}: the number must not be 0`,
})

/** Why the record of an include makes receivers return permerror, if its syntax does not. */
export const includedProblem = problemsOf('spf_included', {
  several: ({ count }: { count: number }) => `it has ${count} SPF records`,
  invalid: () => 'it is not valid',
})

/** Why a term lets nobody pass, as text after it. */
export const deadTermProblem = problemsOf('spf_dead_term', {
  gone: ({ name }: Name) => `${shown(name, 255)} does not exist`,
  no_address: ({ name }: Name) => `${shown(name, 255)} has no address`,
  no_mx: ({ name }: Name) => `${shown(name, 255)} has no MX record, and "mx" does not use the address of the name`,
  only_private: ({ name, address }: Name & { address: string }) =>
    `${shown(name, 255)} has no public address, only ${shown(address, 45)}`,
  not_public: () => 'not a public address, so no receiver ever sees it',
  include: ({ name }: Name) => `the record of ${shown(name, 255)} lets nobody pass`,
  equals_sign: () => 'written with "=" in place of ":", so receivers ignore it',
  after_all: () => 'stands after "all", so it is never evaluated',
  neutral: () => 'neutral by its "?", which is no pass',
  term: ({ text, why }: Text & { why: Problem }, say) => `${quoted(text, 120)} (${say(why)})`,
})

/** Why a text cannot be corrected to an SPF record. */
export const spfTextProblem = problemsOf('spf_text', {
  too_long: ({ max }: { max: number }) => `the text is longer than ${max} characters`,
  start: () => 'the text does not begin like an SPF record',
  term: () => 'a term cannot be read',
})

/** Why a part of a record was not read, or how a step of an evaluation ended (RFC 7208 §4). */
export const spfNote = problemsOf('spf_note', {
  name: () => 'not a valid domain name',
  no_answer: () => 'no answer',
  per_message: () => 'depends on the message',
  none_matched: () => 'no term matched',
  no_record: () => 'no SPF record',
  records: ({ count }: { count: number }) => `${count} SPF records`,
  syntax: ({ index, why }: { index: number; why: Problem }, say) => `syntax, at character ${index}: ${say(why)}`,
  void_lookups: ({ max }: { max: number }) => `more than ${max} lookups found nothing`,
  resulted: ({ name, result }: Name & { result: string }) => `${shown(name, 480)} resulted in ${shown(result, 20)}`,
  no_target: () => 'the target of the redirect has no SPF record',
  lookups: ({ max }: { max: number }) => `more than ${max} terms that need a DNS lookup`,
  macro: () => 'the macro gives no valid name',
  mx_names: ({ count, max }: { count: number; max: number }) => `${count} MX names, more than ${max}`,
})

/** What a network of a term means. */
export const networkProblem = problemsOf('spf_network', {
  host_bits: ({ term, network }: { term: string; network: string }) =>
    `${quoted(term)} means ${shown(network, 60)}, with all of its addresses`,
})

/** The typing errors of a text that was meant to be an SPF record. */
export const spfSlip = problemsOf('spf_slip', {
  front: () => 'other text before "v=spf1", as of a line of a zone file',
  leading_space: () => 'white space before "v=spf1"',
  white_space: () => 'a tab or line break in place of a space',
  no_break_space: () => 'a no-break space (C2 A0) in place of a space',
  invisible: () => 'an invisible character',
  quotes: () => 'quotes inside the text',
  dash: () => 'a typographic dash or tilde',
  version: () => 'a miswritten "v=spf1"',
  two_records: () => 'two records in one text',
  joined: () => 'a missing space between two terms (the strings of a TXT record are joined without one)',
  split: () => 'a space inside a term',
  spelling: () => 'a misspelled term',
  equals: () => 'a mechanism with "=" in place of ":"',
  odd_name: () => 'a URL, an address or a list in place of one name',
  separators: () => 'semicolons or commas in place of spaces',
})

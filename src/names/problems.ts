import { problemsOf, quoted, shown } from '../base/problem.ts'

type Text = { text: string }

export const domainProblem = problemsOf('domain', {
  empty: () => 'the domain is empty',
  too_long: ({ text }: Text) => `${quoted(text, 80)} is longer than 253 octets, the limit for a domain name`,
  address: ({ text }: Text) => `${quoted(text, 80)} is an IP address, not a domain name`,
  network: ({ text }: Text) =>
    `${quoted(text, 80)} is a network or a range of addresses, not a domain name: give one domain, or look one of its addresses up`,
  invalid: ({ text }: Text) => `${quoted(text, 80)} is not a domain name`,
  empty_label: ({ text }: Text) => `${quoted(text, 80)} has an empty label`,
  label: ({ text, label }: Text & { label: string }) =>
    `${quoted(text, 80)} is not a domain name: the label ${quoted(label, 70)} is ${label.length > 63 ? 'longer than 63 characters' : 'not valid'}`,
  single_label: ({ text }: Text) =>
    `${quoted(text, 80)} is a single label: give a full domain name such as example.org`,
  number: ({ text }: Text) => `${quoted(text, 80)} ends in a number, so it is not a domain name`,
  url: ({ text, host }: Text & { host: string }) => `${quoted(text, 80)} is a URL: give its host, ${quoted(host, 80)}`,
  port: ({ text, host }: Text & { host: string }) =>
    `${quoted(text, 80)} has a port: give only the domain, ${quoted(host, 80)}`,
  mailbox: ({ text, domain }: Text & { domain: string }) =>
    `${quoted(text, 80)} is a mail address: give its domain, ${quoted(domain, 80)}`,
  blank: ({ text }: Text) => `${quoted(text, 80)} contains a blank, so it is not a domain name`,
  record: ({ text }: Text) => `${quoted(text, 80)} is the text of a record: give the domain that publishes it`,
  several: ({ count }: { count: number }) => `several domains are given (${count}): give one domain, or send a list`,
})

/** What is wrong with an IP address or a network. */
export const ipProblem = problemsOf('ip', {
  zone_id: ({ text }: Text) => `${quoted(text, 80)} has a zone id: give only the address`,
  network: ({ text }: Text) =>
    `${quoted(text, 80)} is a network or a range of addresses: give one of them, or a list with one address in each line`,
  invalid: ({ text }: Text) => `${quoted(text, 80)} is not an IP address (such as 192.0.2.1 or 2001:db8::1)`,
  url: ({ text, host }: Text & { host: string }) =>
    `${quoted(text, 80)} is a URL, not an IP address: give one of the addresses of its host, ${quoted(host, 80)}`,
  several: ({ count }: { count: number }) => `several IP addresses are given (${count}): give one, or send a list`,
  name: ({ text }: Text) => `${quoted(text, 80)} is a host name, not an IP address: give one of its addresses`,
  zeros: ({ text }: Text) =>
    `${quoted(text, 80)} has zeros in front of its numbers, which some programs read as octal: give it without them`,
  no_network: ({ text }: Text) => `${quoted(text, 80)} is not a network (such as 192.0.2.0/24)`,
  prefix: ({ length, bits }: { length: string; bits: number }) =>
    `/${shown(length, 10)} is not a prefix length (0 to ${bits})`,
})

type Max = { max: number }

/** What is wrong with an e-mail address. */
export const emailProblem = problemsOf('email', {
  empty: () => 'the address is empty',
  several: ({ count }: { count: number }) => `these are several addresses (${count}): give one, or send a list`,
  blank: ({ plus }: { plus: string }) =>
    `the local part contains a blank: in a URL, + is written %2B (for ${quoted(plus, 80)})`,
  blank_at: ({ text }: Text) => `a blank stands beside the @; ${quoted(text, 80)} is the address without it`,
  too_long: ({ max }: Max) => `the address is longer than ${max} octets`,
  no_at: () => 'the address has no @',
  url: ({ text }: { text: string }) => `${quoted(text, 80)} is a URL, not an address`,
  no_local: () => 'there is nothing before the @',
  literal: () => 'the domain is an address literal: give an address at a domain name',
  final_dot: () => 'the domain of an address must not end in a dot',
  after_quote: () => 'the quoted local part is not followed by @',
  escape: () => 'a backslash precedes a character that cannot be quoted',
  open_quote: () => 'the quoted local part has no closing quote',
  undecodable: () =>
    'the local part contains U+FFFD, which stands for a character that could not be decoded: it names no mailbox',
  hidden: () => 'the local part contains control, invisible or unassigned characters',
  white_space: () => 'the local part contains white space other than a plain space',
  bracket: () => 'the local part contains ">", which cannot be sent safely',
  local_too_long: ({ max }: Max) => `the local part is longer than ${max} octets`,
  combining_mark: () => 'the local part begins with a combining mark',
  dots: () => 'the local part begins or ends with a dot, or has two consecutive dots',
  characters: () =>
    'the local part contains characters that must be quoted, or a comment, white space or a display name',
})

/** What is wrong with a DKIM selector. */
export const selectorProblem = problemsOf('selector', {
  several: ({ count }: { count: number }) => `several selectors are given (${count}): give one`,
  invalid: ({ text }: Text) =>
    `${quoted(text, 80)} is not a selector: a selector is what stands before ._domainkey in the name of a key, such as mail`,
})

const PROXY = 'a proxy is written socks5://user:password@host:port'

/** What is wrong with a source of verifications. The text may hold a password and is not repeated. */
export const sourceProblem = problemsOf('source', {
  node_id: () => 'the id of a node is 1 to 64 letters, digits, dots, underscores and hyphens',
  socks5h: () => 'names are never resolved by a proxy: write socks5:// instead of socks5h://',
  proxy: () => PROXY,
  host: () => `${PROXY}; its host must be an address or a domain`,
  port: () => `${PROXY}; its port must be 1 to 65535`,
  login: () => `${PROXY}; user and password must have 1 to 255 octets each, percent-encoded`,
  too_many: ({ count, max }: Max & { count: number }) => `${count} sources given; at most ${max} are allowed`,
  file: ({ path, reason }: { path: string; reason: string }) =>
    `the file ${shown(path)} could not be read: ${shown(reason)}`,
})

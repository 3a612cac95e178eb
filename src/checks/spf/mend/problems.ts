import { problemsOf } from '../../../base/problem.ts'

/** The typing errors of a text that was meant to be an SPF record. */
export const spfSlip = problemsOf('spf_slip', {
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

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ip } from '../../names/ip.ts'
import { expandName, expandText, type MacroValues } from './expand.ts'
import { parseMacroString } from './macro.ts'

/** The values of the examples in RFC 7208 §7.4. */
const values: MacroValues = {
  ip: ip('192.0.2.3'),
  local: 'strong-bad',
  senderDomain: 'email.example.com',
  domain: 'email.example.com',
  helo: 'mx.example.org',
  validated: 'mx.example.org',
  receiver: 'mx.receiver.example',
  unixSeconds: 1_700_000_000,
}
const six: MacroValues = { ...values, ip: ip('2001:db8::cb01') }

function parts(text: string) {
  const result = parseMacroString(text, 'explanation')
  if (!result.ok) throw new TypeError(result.problem.text)
  return result.value
}

it.each([
  ['%{s}', 'strong-bad@email.example.com'],
  ['%{o}', 'email.example.com'],
  ['%{d}', 'email.example.com'],
  ['%{d4}', 'email.example.com'],
  ['%{d3}', 'email.example.com'],
  ['%{d2}', 'example.com'],
  ['%{d1}', 'com'],
  ['%{dr}', 'com.example.email'],
  ['%{d2r}', 'example.email'],
  ['%{l}', 'strong-bad'],
  ['%{l-}', 'strong.bad'],
  ['%{lr}', 'strong-bad'],
  ['%{lr-}', 'bad.strong'],
  ['%{l1r-}', 'strong'],
  ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
  ['%{lr-}.lp._spf.%{d2}', 'bad.strong.lp._spf.example.com'],
  ['%{lr-}.lp.%{ir}.%{v}._spf.%{d2}', 'bad.strong.lp.3.2.0.192.in-addr._spf.example.com'],
  ['%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}', '3.2.0.192.in-addr.strong.lp._spf.example.com'],
  ['%{d2}.trusted-domains.example.net', 'example.com.trusted-domains.example.net'],
])('%s is %s, an example of RFC 7208 §7.4', (text, expanded) => expect(expandName(parts(text), values)).toBe(expanded))

it('writes IPv6 as nibbles, RFC 7208 §7.4', () =>
  expect(expandName(parts('%{ir}.%{v}._spf.%{d2}'), six)?.toLowerCase()).toBe(
    '1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6._spf.example.com',
  ))

it.each([
  ['%{c} %{r} %{t} %{h} %{p}', '192.0.2.3 mx.receiver.example 1700000000 mx.example.org mx.example.org'],
  ['%%%_%-', '% %20'], // §7.1
  ['%{L}', 'strong-bad'], // unreserved characters stay, §7.3
  ['%{S}', 'strong-bad%40email.example.com'], // upper case is URL-escaped, §7.3
])('the text %s is %j', (text, expanded) => expect(expandText(parts(text), values)).toBe(expanded))

it.each([
  ['a trailing dot goes', 'a.%{d}.', values, 'a.email.example.com'],
  [
    'labels go from the left of a name over 253',
    `${'a'.repeat(60)}.%{l}.${'b.'.repeat(100)}example`,
    values,
    `strong-bad.${'b.'.repeat(100)}example`,
  ], // §7.3
  ['a non-ASCII local part gives no name', '%{l}.%{d}', { ...values, local: 'bücher' }, undefined], // RFC 8616 §4
  ['what is not known gives no name', '%{h}.example', { domain: 'a.example' }, undefined],
])('%s', (_, text, given, expanded) => expect(expandName(parts(text), given as MacroValues)).toBe(expanded))

it('escapes UTF-8 octet by octet (RFC 3986 §2.1)', () =>
  expect(expandText(parts('%{L}'), { ...values, local: 'ü&~' })).toBe('%C3%BC%26~'))

it('cuts an explanation that macros blow up, and a name too', () => {
  const bomb = parts('%{s}'.repeat(16_000))
  const long = { ...values, local: 'x'.repeat(64_000) }
  expect(expandText(bomb, long)).toHaveLength(2_000)
  expect(expandName(bomb, values)!.length).toBeLessThanOrEqual(253)
})

it('never throws, and gives names that fit', () => {
  const text = fc
    .array(fc.constantFrom('%{l}', '%{s2r.-}', 'a', '.', '%{d1}', '%%', '%{H}', '%{i}'))
    .map((all) => all.join(''))
  fc.assert(
    fc.property(text, fc.string(), (spec, local) => {
      const name = expandName(parts(spec), { ...values, local })
      if (name?.includes('.')) expect(name.length).toBeLessThanOrEqual(253)
    }),
  )
})

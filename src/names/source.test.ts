import { expect, it } from 'vitest'
import { distinctEntries, familyOfSource, parsePoolEntry, parseSourceName } from './source.ts'

it.each([
  ['45.53.1.1', '45.53.1.1'],
  ['2A01:4F8::1', '2a01:4f8::1'],
  ['socks5://45.53.9.1:1080', 'socks5://45.53.9.1:1080'],
  ['socks5://45.53.9.1', 'socks5://45.53.9.1:1080'], // the registered port
  ['socks5://user:hunter2@45.53.9.1:9050/', 'socks5://45.53.9.1:9050'],
  ['SOCKS5://user:hunter2@Proxy.Example:1080', 'socks5://proxy.example:1080'],
  ['socks5://user:hunter2@[2a01:4f8::1]:1080', 'socks5://[2a01:4f8::1]:1080'],
  ['peer:north-1', 'peer:north-1'],
])('%j is the source %j', (text, name) => {
  const entry = parsePoolEntry(text)
  expect(entry).toMatchObject({ ok: true, value: { name } })
  expect(parseSourceName(name)).toEqual({ ok: true, value: name })
})

it.each([
  ['socks5h://user:hunter2@45.53.9.1', 'write socks5://'],
  ['socks4://hunter2@45.53.9.1', 'a proxy is written'],
  ['http://user:hunter2@45.53.9.1:8080', 'a proxy is written'],
  ['user:hunter2@45.53.9.1:1080', 'a proxy is written'],
  ['socks5://user:hunter2@', 'a proxy is written'],
  ['socks5://user:hunter2@45.53.9.1:99999', 'a proxy is written'],
  ['socks5://user:hunter2@45.53.9.1:0', 'its port must be 1 to 65535'],
  ['socks5://user:hunter2@45.53.9.1/path', 'a proxy is written'],
  ['socks5://user:hunter2@45.53.9.1?x', 'a proxy is written'],
  ['socks5://user:hunter2@not a host', 'a proxy is written'],
  ['socks5://user:hunter2@a_b', 'its host must be an address or a domain'],
  ['socks5://user:%zzhunter2@45.53.9.1', '1 to 255 octets'],
  ['socks5://hunter2@45.53.9.1', '1 to 255 octets'], // a user without a password
  [`socks5://user:hunter2${'a'.repeat(249)}@45.53.9.1`, '1 to 255 octets'],
  ['peer:', 'the id of a node'],
  ['peer:../hunter2', 'the id of a node'],
  ['45.53.1', 'is not an IP address'],
])('%j is none, and the problem does not repeat a login', (text, words) => {
  const entry = parsePoolEntry(text)
  expect(entry.ok ? entry.value : entry.problem.text).toContain(words)
  expect(JSON.stringify(entry)).not.toContain('hunter2')
})

it('a password of 255 octets is taken, and one with marks is decoded', () => {
  const entry = parsePoolEntry(`socks5://us%3Aer:%40${'a'.repeat(254)}@45.53.9.1`)
  expect(entry).toMatchObject({ value: { proxy: { login: { user: 'us:er', password: `@${'a'.repeat(254)}` } } } })
})

it('repetitions are one source; two logins at one port are two', () => {
  const texts = ['45.53.1.1', 'socks5://a:b@45.53.9.1', 'socks5://a:c@45.53.9.1', 'socks5://a:b@45.53.9.1', '45.53.1.1']
  const entries = distinctEntries(
    texts.flatMap((text) => {
      const entry = parsePoolEntry(text)
      return entry.ok ? [entry.value] : []
    }),
  )
  expect(entries.map(({ name }) => name)).toEqual(['45.53.1.1', 'socks5://45.53.9.1:1080', 'socks5://45.53.9.1:1080#2'])
  expect(entries[2]).toMatchObject({ proxy: { name: 'socks5://45.53.9.1:1080#2', login: { password: 'c' } } })
  expect(parseSourceName('socks5://45.53.9.1:1080#2')).toMatchObject({ ok: true })
})

it('only an address has a family', () => {
  const families = ['45.53.1.1', '2a01:4f8::1', 'socks5://45.53.9.1', 'peer:north'].map((text) => {
    const entry = parsePoolEntry(text)
    return entry.ok && familyOfSource(entry.value.name)
  })
  expect([...families, familyOfSource(undefined)]).toEqual([4, 6, undefined, undefined, undefined])
})

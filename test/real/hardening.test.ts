import { execFile } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAR_RESOLVER } from './addresses.ts'
import { cli, type Program, startProgram } from './program.ts'

/** DNSSEC, STARTTLS and DANE on signed zones and mail hosts with certificates of every kind. */
let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))

type Answer = { readonly findings: readonly { readonly id: string }[] } & Readonly<Record<string, unknown>>
async function check(name: string, flags = ''): Promise<Answer> {
  const got = await program.get(`/v1/check?domain=${name}.test${flags}`)
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  return got.body as Answer
}
const idsOf = (answer: Answer, prefix: string): string[] =>
  answer.findings
    .map(({ id }) => id)
    .filter((id) => id.startsWith(`${prefix}.`))
    .toSorted()

describe('DNSSEC', () => {
  it.each<[string, object, string[]]>([
    ['signed', { status: 'pass', signed: true, validated: true, bogus: false, ede: [] }, []],
    ['healthy', { status: 'pass', signed: true, validated: true }, []],
    ['insecure', { status: 'warn', signed: false, validated: false, bogus: false }, ['dnssec.unsigned']],
    ['island', { status: 'warn', signed: true, validated: false, bogus: false }, ['dnssec.island']],
    ['bogus', { status: 'fail', signed: true, validated: false, bogus: true }, ['dnssec.bogus', 'dnssec.ds_mismatch']],
    ['expiring', { status: 'warn', signed: true, validated: true }, ['dnssec.expires_soon']],
    ['nsec3', { status: 'warn', signed: true, validated: true }, ['dnssec.nsec3_parameters']],
    ['servfail', { status: 'unknown', validated: null, bogus: null, reason: expect.any(String) }, []],
    ['missing', { status: 'not_applicable', bogus: false }, []],
  ])('%s.test', async (name, dnssec, ids) => {
    const answer = await check(name)
    expect(answer.dnssec).toMatchObject(dnssec)
    expect(idsOf(answer, 'dnssec')).toEqual(ids)
  })

  it('expired.test: bogus, with what the resolver says of it', async () => {
    const answer = await check('expired')
    // Which error unbound gives depends on the record at which it met the signatures first.
    expect(answer.dnssec).toMatchObject({ status: 'fail', signed: true, bogus: true })
    expect((answer.dnssec as { ede: { code: number }[] }).ede.some(({ code }) => code >= 6 && code <= 12)).toBe(true)
    expect(['dnssec.expired', 'dnssec.bogus']).toEqual(expect.arrayContaining(idsOf(answer, 'dnssec')))
  })
})

describe('a resolver that is not on this machine', () => {
  it.each<[string, string[], object, object]>([
    ['is not believed', [], { status: 'unknown', signed: true, validated: null, bogus: null }, { status: 'unknown' }],
    ['is where the operator says so', ['--trust-ad'], { status: 'pass', validated: true }, { status: 'pass' }],
  ])('%s', async (_why, flags, dnssec, dane) => {
    const { body } = await cli('check', 'danegood.test', '--resolver', FAR_RESOLVER, ...flags)
    expect(body).toMatchObject({ dnssec, dane })
  })
})

describe('STARTTLS', () => {
  it.each<[string, string, object, string[]]>([
    [
      'tls',
      'pass',
      { offered: true, protocol: 'TLSv1.3', outdated_protocol: null, trusted: true, name_matches: true },
      [],
    ],
    [
      'tlsexpired',
      'warn',
      { offered: true, trusted: false, expires_at: '2020-01-01T00:00:00.000Z' },
      ['starttls.expired'],
    ],
    ['tlsself', 'pass', { offered: true, trusted: false, issuer: 'CN=mx.tlsself.test' }, ['starttls.untrusted']],
    ['tlswrong', 'pass', { trusted: true, name_matches: false, names: ['elsewhere.test'] }, ['starttls.name']],
    ['tlssoon', 'warn', { offered: true, trusted: true }, ['starttls.expires_soon']],
    ['tlsold', 'warn', { protocol: 'TLSv1.3', outdated_protocol: 'TLSv1.1' }, ['starttls.old_accepted']],
    ['tlsshort', 'warn', { key_type: 'rsa', key_bits: 1_024 }, ['starttls.short_key']],
    ['greeting', 'pass', { banner_name: 'localhost' }, ['starttls.greeting']],
    ['greetingptr', 'pass', { banner_name: 'mail.greetingptr.test' }, ['starttls.greeting_ptr']],
    ['relay', 'fail', { offered: false, protocol: null, trusted: null }, ['starttls.not_offered']],
    ['silent', 'unknown', { offered: null, reason: expect.any(String) }, ['starttls.not_heard']],
  ])('%s.test is %s', async (name, status, host, ids) => {
    const answer = await check(name, '&starttls=true')
    expect(answer.starttls).toMatchObject({ status, hosts: [{ host: `mx.${name}.test`, ...host }] })
    expect(idsOf(answer, 'starttls')).toEqual(ids)
  })

  it('is looked at only where it is asked for', async () => {
    expect(await check('tls')).not.toHaveProperty('starttls')
    expect((await cli('check', 'tls.test')).body).not.toHaveProperty('starttls')
    expect((await cli('check', 'tls.test', '--starttls')).body).toMatchObject({ starttls: { status: 'pass' } })
  })

  it('is in every report', async () => {
    const got = await program.get('/v1/report?domain=tlsexpired.test')
    expect(got.body).toMatchObject({ starttls: { hosts: [{ offered: true }] } })
  })

  it('does not dial private addresses', async () => {
    expect((await check('loopback', '&starttls=true')).starttls).toMatchObject({ status: 'unknown' })
  })
})

describe('DANE', () => {
  it.each<[string, string, (boolean | null)[], string[], RegExp]>([
    ['danegood', 'pass', [true], ['dane.rollover'], /Verified TLS connection/],
    ['danebad', 'fail', [false], ['dane.mismatch'], /Untrusted TLS connection|not verified|verification failed/],
  ])('%s.test is %s, and posttls-finger says so too', async (name, status, matches, ids, verdict) => {
    const answer = await check(name, '&starttls=true')
    expect(answer.dane).toMatchObject({
      status,
      hosts: [
        { host: `mx.${name}.test`, secure: true, records: matches.map((meets) => ({ usable: true, matches: meets })) },
      ],
    })
    expect(idsOf(answer, 'dane')).toEqual(ids)
    expect(await finger(`${name}.test`)).toMatch(verdict)
  })

  it('without a look at the certificates nothing is said of them', async () => {
    const answer = await check('danebad')
    expect(answer.dane).toMatchObject({ status: 'pass', hosts: [{ secure: true, records: [{ matches: null }] }] })
  })

  it('offers the record of the key that is seen, and it is the right one', async () => {
    const { findings } = await check('danebad', '&starttls=true')
    const fix = findings.find(({ id }) => id === 'dane.mismatch') as
      | { fix?: { name: string; value: string } }
      | undefined
    expect(fix?.fix).toMatchObject({
      name: '_25._tcp.mx.danebad.test',
      value: expect.stringMatching(/^3 1 1 [0-9a-f]{64}$/),
    })
    const [, , , digest] = fix!.fix!.value.split(' ')
    // `digest` certificates of posttls-finger are public keys too.
    expect((await finger('danebad.test', 'fingerprint')).toLowerCase()).toContain(digest!.match(/../g)!.join(':'))
  })

  it.each(['signed', 'tls', 'nullmx'])('%s.test has no records', async (name) => {
    expect((await check(name)).dane).toMatchObject({ status: 'not_applicable' })
  })
})

const finger = (domain: string, level = 'dane'): Promise<string> =>
  new Promise((resolve) => {
    const more = level === 'fingerprint' ? ['-d', 'sha256', '-L', 'verbose'] : ['-c']
    execFile('posttls-finger', ['-t', '5', '-l', level, ...more, domain], (_, out, err) => resolve(out + err))
  })

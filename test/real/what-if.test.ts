import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STATE } from './addresses.ts'
import { cli, type Program, startProgram } from './program.ts'

/** What if, and one DKIM key: through HTTP and on the command line, with the same answer. */
let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))

const RECORDS = [
  { name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject; rua=mailto:d@neglected.test' },
  { name: '@', type: 'TXT', value: 'v=spf1 a -all' },
]
const LINES = ['_dmarc TXT "v=DMARC1; p=reject; rua=mailto:d@neglected.test"', '@ 300 IN TXT "v=spf1 a -all"']
const ZONE = `$TTL 300\n_dmarc TXT ( "v=DMARC1; p=reject;"\n  " rua=mailto:d@neglected.test" ) ; reports\n@ TXT "v=spf1 a -all"\n`
const withoutTime = ({ observed_at: _, ...rest }: Record<string, unknown>) => rest

describe('what if', () => {
  it('is the same over HTTP, with --with and with --zone, in process and on a server', async () => {
    const got = await program.post('/v1/check', { domain: 'neglected.test', records: RECORDS })
    expect(got.status, JSON.stringify(got.body)).toBe(200)
    const answer = withoutTime(got.body as Record<string, unknown>)
    expect(answer).toMatchObject({
      before: { grade: 'F', findings: expect.arrayContaining(['spf.many_records', 'dmarc.policy_none']) },
      after: { findings: expect.not.arrayContaining(['spf.many_records', 'dmarc.policy_none']) },
    })
    expect((answer.after as { score: number }).score).toBe(answer.score)
    const file = `${STATE}/as-if.zone`
    writeFileSync(file, ZONE)
    const withFlags = LINES.flatMap((line) => ['--with', line])
    for (const flags of [withFlags, ['--zone', file], [...withFlags, '--server', program.url]]) {
      const ran = await cli('check', 'neglected.test', ...flags)
      expect({ ...withoutTime(ran.body as Record<string, unknown>), as_if: [] }).toEqual({ ...answer, as_if: [] })
    }
  })

  it('publishing what is asked about gives the same as what if', async () => {
    // healthy.test with the records of its neighbour is judged as the neighbour is.
    const was = await program.get('/v1/check?domain=dmarc-no-rua.test')
    const as = await program.post('/v1/check', {
      domain: 'dmarc-syntax.test',
      records: [{ name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject' }],
    })
    const score = ({ body }: { body: unknown }) => (body as { score: number }).score
    expect(score(as)).toBe(score(was))
  })

  it.each([
    ['--with', '@ A nowhere'],
    ['--with', 'alone'],
    ['--zone', '/nowhere'],
  ])('%s %s is a mistake of usage', async (flag, value) => {
    const ran = await cli('check', 'neglected.test', flag, value)
    expect(ran.code).toBe(2)
    expect(ran.stderr).not.toBe('')
  })
})

describe('one DKIM key', () => {
  it.each([
    ['healthy.test', 's1', { valid: true, status: 'pass', key_type: 'rsa', key_bits: 2048 }, 0],
    ['healthy.test', 's2', { valid: true, status: 'pass', key_type: 'ed25519', key_bits: 256 }, 0],
    ['neglected.test', 'default', { valid: true, status: 'warn', key_bits: 1024, testing: true }, 0],
    ['healthy.test', 'none', { valid: false, status: 'fail', records: [] }, 1],
    ['servfail.test', 's1', { valid: false, status: 'unknown' }, 3],
  ])('%s %s', async (domain, selector, fields, code) => {
    const got = await program.get(`/v1/dkim?domain=${domain}&selector=${selector}`)
    expect(got.body).toMatchObject({ domain, selector, name: `${selector}._domainkey.${domain}`, ...fields })
    const ran = await cli('dkim', domain, '--selector', selector)
    expect(ran.body).toEqual(got.body)
    expect(ran.code).toBe(code)
  })
})

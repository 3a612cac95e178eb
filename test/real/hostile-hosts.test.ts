import dnsPacket from 'dns-packet'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PRIVATE_HOSTS, SCRIPTED_SERVER } from './addresses.ts'
import { udp, type Watch, watchPort } from './listen.ts'
import { type Program, startProgram } from './program.ts'

/** Policy hosts and logo hosts that mean harm: what they do is an answer, reaches nobody else, and holds nothing up. */
let program: Program
let watch: Watch | undefined
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))
afterEach(() => watch?.close())

type Answer = Readonly<Record<string, { readonly status: string; readonly reason?: string; readonly valid?: boolean }>>
async function check(name: string, timeout = '3s'): Promise<Answer> {
  const got = await program.get(`/v1/check?domain=${name}.test&timeout=${timeout}`)
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  return got.body as Answer
}
/** What scores does not wait for what does not. */
const SCORED = { spf: { status: 'pass' }, dkim: { status: 'pass' }, dmarc: { status: 'pass' }, ptr: { status: 'pass' } }

describe('a policy host that sends', () => {
  it.each([
    ['stsbig', '10 MB', 'warn'],
    ['stsbomb', 'gzip of 100 MB', 'warn'],
    ['stsendless', 'a policy that never ends', 'warn'],
    ['stsnul', 'NULs', 'fail'],
    ['stscr', 'a bare CR', 'fail'],
    ['stslengths', 'two lengths', 'warn'],
    ['stsnohttp', 'no HTTP', 'warn'],
    ['stsheaders', 'a head of 1 MB', 'warn'],
    ['stsredirect', 'a redirect', 'warn'],
    ['stswrongname', 'a certificate of another name', 'warn'],
    ['stsexpired', 'an expired certificate', 'warn'],
    ['stsdrip', 'one byte a second', 'unknown'],
  ])('%s.test: %s', async (name, _, status) => {
    const answer = await check(name)
    expect(answer).toMatchObject({ ...SCORED, mta_sts: { status, valid: false, reason: expect.stringMatching(/\w/) } })
  })

  it('stsdrip.test: partial at the deadline, and that is said', async () => {
    const answer = await check('stsdrip', '2s')
    expect(answer).toMatchObject({ ...SCORED, score: 99, complete: false, mta_sts: { status: 'unknown' } })
    expect(answer.mta_sts!.reason).toMatch(/no complete answer in time/)
  })
})

it.each([
  ['bimihuge', '10 MB', 'fail'],
  ['bimibomb', 'gzip of 100 MB', 'fail'],
  ['bimiendless', 'a logo that never ends', 'fail'],
  ['bimidrip', 'one byte a second', 'unknown'],
])('a logo host that sends: %s.test, %s', async (name, _, status) => {
  expect(await check(name)).toMatchObject({ ...SCORED, bimi: { status, reason: expect.stringMatching(/\w/) } })
})

describe('private hosts', () => {
  it.each([
    ['stsprivate', 'mta_sts', 'warn'],
    ['bimiprivate', 'bimi', 'fail'],
    ['bimiinside', 'bimi', 'fail'], // the address of a redirect is judged too
  ])('%s.test: nothing is sent', async (name, key, status) => {
    watch = await watchPort(443, PRIVATE_HOSTS)
    expect(await check(name)).toMatchObject({ [key]: { status, valid: false } })
    expect(watch.arrivals).toEqual([])
  })
})

it('stsrebind.test: an address that turns private after the first question gains nothing', async () => {
  watch = await watchPort(443, PRIVATE_HOSTS)
  const answers: string[] = []
  const server = await udp(53, SCRIPTED_SERVER, (message, from, socket) => {
    const query = dnsPacket.decode(message)
    const { name, type } = query.questions![0]!
    const isAddress = type === 'A' && name.toLowerCase() === 'mta-sts.stsrebind.test'
    const data = answers.length === 0 ? '45.53.6.33' : '10.53.0.1'
    if (isAddress) answers.push(data)
    const reply = dnsPacket.encode({
      type: 'response',
      id: query.id ?? 0,
      flags: dnsPacket.AUTHORITATIVE_ANSWER,
      questions: query.questions ?? [],
      answers: isAddress ? [{ type: 'A', name, ttl: 0, data }] : [],
    })
    socket.send(reply, from.port, from.address)
  })
  try {
    const first = await check('stsrebind')
    const second = await check('stsrebind')
    expect(answers.slice(0, 2)).toEqual(['45.53.6.33', '10.53.0.1'])
    expect(first).toMatchObject({ mta_sts: { status: 'pass', valid: true } })
    expect(second).toMatchObject({ mta_sts: { status: 'warn', reason: 'MTA-STS record without a policy' } })
    expect(watch.arrivals).toEqual([])
  } finally {
    server.close()
  }
})

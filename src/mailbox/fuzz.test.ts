import fc from 'fast-check'
import { expect, it } from 'vitest'
import { labDial } from '../../test/lab/dial.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { createVerifier } from './verify.ts'

const ZONE = { 'x.example': { MX: [[10, 'mx1.x.example'] as const] }, 'mx1.x.example': { A: ['45.53.5.1'] } }
const STEPS = [
  '250 ok',
  '250-a\n250 b',
  '251 will forward',
  '252 cannot say',
  '220 hi',
  '354 go on',
  '421 4.3.2 bye',
  '450 4.2.0 Greylisted',
  '452 4.5.3 Too many recipients',
  '500 what',
  '503 5.5.1 order',
  '550 5.1.1 User unknown',
  '550 5.7.1 blocked using a list',
  '550-a\n250 b',
  '552 5.2.2 full',
  '999 x',
  '',
  'hello',
  '!close',
  '!reset',
  '!silence',
  '!garbage',
  '!drip',
  '!endless',
  '250 ok\n550 5.1.1 User unknown',
]
const step = fc.constantFrom(...STEPS)

it('gives a result whatever a server says, closes its sockets, and rejects only by a word about the recipient', async () => {
  const server = fc.record({
    banner: fc.oneof({ weight: 3, arbitrary: fc.constant('220 lab') }, { weight: 1, arbitrary: step }),
    ehlo: fc.oneof(
      { weight: 3, arbitrary: fc.subarray(['PIPELINING', 'STARTTLS', 'SMTPUTF8']) },
      { weight: 1, arbitrary: step },
    ),
    helo: step,
    starttls: step,
    mail: fc.oneof({ weight: 3, arbitrary: fc.constant('250 ok') }, { weight: 1, arbitrary: step }),
    rcpt: fc.record({ 'a@x.example': step, '*': step }),
  })
  await fc.assert(
    fc.asyncProperty(server, async (written) => {
      const net = labDial({ '45.53.5.1': written })
      const ctx = labCtx(ZONE, { dial: net.dial })
      const v = await createVerifier(ctx, { helo: domain('us.example') }).verify(ctx, {
        email: 'a@x.example',
        timeoutMs: 30,
      })
      expect(net.open()).toBe(0)
      if (v.result === 'rejected') expect(v.attempts.at(-1)).toMatchObject({ stage: 'rcpt' })
      if (v.reason === 'mailbox_not_found') expect(String(v.code)).toMatch(/^5/)
      if (v.result === 'accepted' || v.result === 'catch_all') expect(String(v.code)).toMatch(/^2/)
      expect(v.message).not.toMatch(/[\u0000-\u001f]/)
    }),
    { numRuns: 300 },
  )
})

it('writes only the commands of one session, whatever the address', async () => {
  const piece = fc.constantFrom(
    'a',
    'é',
    '"',
    '\\',
    '>',
    '<',
    '@',
    '.',
    ' ',
    '\r',
    '\n',
    '\r\n',
    '\0',
    '\t',
    'x.example',
    'RCPT TO:<b@y.example>',
    'DATA',
    '\u2028',
    '\u202e',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const net = labDial({ '45.53.5.1': { rcpt: { '*': '250 ok' } } })
      const ctx = labCtx(ZONE, { dial: net.dial })
      await createVerifier(ctx, { helo: domain('us.example') }).verify(ctx, {
        email: `${pieces.join('')}@x.example`,
        timeoutMs: 100,
      })
      for (const line of net.received)
        expect(line).toMatch(
          /^(?:EHLO us\.example|MAIL FROM:<[^<>\s]+>(?: SMTPUTF8)?|RCPT TO:<[^>\r\n\0]+@x\.example>|RSET|QUIT)$/u,
        )
      expect(net.received.filter((line) => line.startsWith('RCPT')).length).toBeLessThanOrEqual(2)
    }),
    { numRuns: 300 },
  )
})

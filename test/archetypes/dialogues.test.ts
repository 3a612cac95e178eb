import { setTimeout as wait } from 'node:timers/promises'
import { createVerifier } from '../../src/mailbox/verify.ts'
import { domain } from '../../src/names/domain.ts'
import { ip } from '../../src/names/ip.ts'
import type { Dial } from '../../src/net/smtp/dial.ts'
import { type LabServer, labDial } from '../lab/dial.ts'
import { email } from '../lab/email.ts'
import { labWorld } from '../lab/world.ts'
import { type DialogueCase, dialogues } from './cases.ts'
import { answerOf, serviceIn } from './lab.ts'
import { runCases } from './run.ts'

/** What a mail server says, and what a verification must make of it. */

const HOST = '45.53.5.1'
/** We are who the servers' words speak of. */
const US = { helo: domain('probe.example'), mailFrom: email('verify-1@probe.example'), address: ip('185.1.2.3') }

runCases('archetypes of dialogues', dialogues(), async (row) => {
  const answer = await verify(row)
  return (['result', 'reason', 'deliverability'] as const)
    .filter((field) => !row.expect[field].includes(answer[field]))
    .map((field) => `${field} is ${answer[field]}, not ${row.expect[field].join(' or ')}: ${answer.message}`)
})

type Answer = Readonly<Record<'result' | 'reason' | 'deliverability' | 'message', string>>

async function verify(row: DialogueCase): Promise<Answer> {
  const mailbox = mailboxOf(row)
  const at = mailbox.slice(mailbox.indexOf('@') + 1)
  const mx = mxOf(row.mx, at)
  const { dial } = labDial({ [HOST]: serverOf(row, mailbox) })
  const world = labWorld({ [at]: { MX: [[10, mx]] }, [mx]: { A: [HOST] } }, { dial: delayed(dial, row) })
  const verifier = createVerifier(world, { noCourtesy: true, ...US })
  const query = { email: mailbox, ...(row.timeout === undefined ? {} : { timeout: row.timeout }) }
  return (await answerOf(serviceIn(world, { verifier }), '/v1/verify', query)) as Answer
}

/** The mailbox that the server's words name, and user@x.com where they name none. */
const mailboxOf = ({ script: { rcpt = '' } }: DialogueCase): string =>
  /\b(?:user|info)@[a-z0-9.]+[a-z0-9]/.exec(rcpt)?.[0] ?? 'user@x.com'

/**
 * The name of the host: `*` stands for anything, here for the domain with dashes; a name without a dot is below the
 * domain.
 */
const mxOf = (written: string, at: string): string => {
  const name = written.replace('*-com', at.replaceAll('.', '-')).replaceAll('*', '1')
  return name.includes('.') ? name : `${name}.${at}`
}

function serverOf({ script }: DialogueCase, mailbox: string): LabServer {
  const { banner, mail, rcpt = '250 2.1.5 Ok', other = rcpt, mode } = filled(script, mailbox)
  const server = { ...(banner && { banner }), ...(mail && { mail }), rcpt: { '*': other, [mailbox]: rcpt } }
  return mode === undefined ? server : { ...server, ...dropping(mode) }
}

/** The words of a server with the mailbox and our address in place of `{rcpt}` and `{source}`. */
const filled = (script: DialogueCase['script'], mailbox: string): DialogueCase['script'] =>
  JSON.parse(JSON.stringify(script).replaceAll('{rcpt}', mailbox).replaceAll('{source}', US.address))

/**
 * The step at which a server closes the connection in place of a reply, after it has answered so many commands (EHLO,
 * MAIL, RCPT).
 */
function dropping(mode: string): LabServer {
  if (mode === 'silent') return { banner: '!silence' }
  if (mode === 'reset') return { connect: 'reset' }
  const answered = /^drop=(\d)$/.exec(mode)?.[1]
  const steps: readonly LabServer[] = [{ ehlo: '!close' }, { mail: '!close' }, { rcpt: { '*': '!close' } }]
  const step = answered === undefined ? undefined : steps[Number(answered)]
  if (step === undefined) throw new Error(`no server with the mode ${mode}`)
  return step
}

/** Connections that come from our address and whose replies come late by `delay_ms`. */
const delayed =
  (dial: Dial, { script: { delay_ms = 0 } }: DialogueCase): Dial =>
  async (target, signal) => {
    const connection = await dial(target, signal)
    const read: typeof connection.read = async () => {
      if (delay_ms > 0) await wait(delay_ms)
      return connection.read()
    }
    return { ...connection, localAddress: US.address, read }
  }

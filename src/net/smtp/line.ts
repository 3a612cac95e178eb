import type { Command } from './commands.ts'
import { DialError, type DialReason } from './dial.ts'
import type { Lifetime, TimeLimit } from './lifetime.ts'
import type { Reply, Stage } from './reply.ts'
import { ClosedError, ProtocolError, type Wire } from './wire.ts'

/** Why a stage ended without a reply. */
export type FaultReason = DialReason | 'protocol_error'

/** What a stage of the conversation came to: the server's reply, or the fault that took its place. */
export type Heard =
  | { readonly stage: Stage; readonly reply: Reply; readonly fault?: undefined }
  | { readonly stage: Stage; readonly fault: FaultReason; readonly message: string; readonly reply?: undefined }

/** The parts of an open session that its steps share. */
export type Line = {
  readonly lifetime: Lifetime
  readonly wire: Wire
  readonly stageMs: (stage: Stage) => TimeLimit
}

/** Sends one command and hears its reply. */
export async function say(line: Line, stage: Stage, command: Command, signal: AbortSignal): Promise<Heard> {
  const release = line.lifetime.bound(line.stageMs(stage), signal)
  try {
    await line.wire.send([command])
    return { stage, reply: await line.wire.next() }
  } catch (error) {
    return faultOf(stage, error)
  } finally {
    release()
  }
}

/** Hears the next reply. */
export async function hear(line: Line, stage: Stage, signal: AbortSignal): Promise<Heard> {
  const release = line.lifetime.bound(line.stageMs(stage), signal)
  try {
    return { stage, reply: await line.wire.next() }
  } catch (error) {
    return faultOf(stage, error)
  } finally {
    release()
  }
}

/** What a known fault means as data; anything else is a bug and goes up. */
export function faultOf(stage: Stage, error: unknown): Heard & { readonly reply?: undefined } {
  if (error instanceof DialError) return { stage, fault: error.reason, message: error.message }
  if (error instanceof ProtocolError) return { stage, fault: 'protocol_error', message: error.message }
  if (error instanceof ClosedError) return { stage, fault: 'connection_lost', message: error.message }
  throw error
}

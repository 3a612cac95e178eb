import type { Problem } from '../../base/problem.ts'
import type { Command } from './commands.ts'
import { DialError, type DialReason } from './dial.ts'
import type { Bounds, TimeLimit } from './lifetime.ts'
import type { Reply, Stage } from './reply.ts'
import { ClosedError, ProtocolError, type Wire } from './wire.ts'

/** Why a stage ended without a reply. */
type FaultReason = DialReason | 'protocol_error'

/** The outcome of one stage of a session: the server's reply, or a fault. */
export type StageOutcome =
  | { readonly stage: Stage; readonly reply: Reply; readonly fault?: undefined }
  | { readonly stage: Stage; readonly fault: FaultReason; readonly problem: Problem; readonly reply?: undefined }

/** An open connection during one use of it. */
export type Channel = {
  readonly wire: Wire
  readonly bounds: Bounds
  readonly stageMs: (stage: Stage) => TimeLimit
}

/** Sends one command and reads its reply. */
export async function sendCommand(channel: Channel, stage: Stage, command: Command): Promise<StageOutcome> {
  channel.bounds.next(channel.stageMs(stage))
  try {
    await channel.wire.send([command])
    return { stage, reply: await channel.wire.next() }
  } catch (error) {
    return faultOf(stage, error)
  }
}

/** Reads the next reply. */
export async function readReply(channel: Channel, stage: Stage): Promise<StageOutcome> {
  channel.bounds.next(channel.stageMs(stage))
  try {
    return { stage, reply: await channel.wire.next() }
  } catch (error) {
    return faultOf(stage, error)
  }
}

/** A known fault as data; any other error is a bug and is thrown on. */
export function faultOf(stage: Stage, error: unknown): StageOutcome & { readonly reply?: undefined } {
  if (error instanceof DialError) return { stage, fault: error.reason, problem: error.problem }
  if (error instanceof ProtocolError) return { stage, fault: 'protocol_error', problem: error.problem }
  if (error instanceof ClosedError) return { stage, fault: 'connection_lost', problem: error.problem }
  throw error
}

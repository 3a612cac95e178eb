import type { Email } from '../names/email.ts'
import type { Ctx } from '../world.ts'
import type { SideData, VerifyInput } from './verification.ts'

export async function sideData(
  _ctx: Ctx,
  _input: VerifyInput,
  _email: Email | undefined,
  _mxHosts: readonly string[],
): Promise<SideData> {
  return { disposable: false, free: false, isRole: false, role: '', suggestion: '', checked: [] }
}

import type { Owner } from '../names/owner.ts'

/** Who asks, as far as owning goes. */
type By = { readonly caller?: { readonly key?: string; readonly isAdmin: boolean } }

/** Who a thing belongs to that a call makes: the key that was shown; while no key is in force, and on the command line, everybody is one. */
export const ownerOf = ({ caller }: By): Owner => ({ id: caller?.key ?? '', isAdmin: caller?.isAdmin ?? true })

import type { Owner } from '../names/owner.ts'

/** The caller, as far as ownership needs it. */
type By = { readonly caller?: { readonly key?: string; readonly isAdmin: boolean } }

/** The owner of an object that a call creates: the key of the request; while no key is in force, and on the command line, all callers are one owner. */
export const ownerOf = ({ caller }: By): Owner => ({ id: caller?.key ?? '', isAdmin: caller?.isAdmin ?? true })

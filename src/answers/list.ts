import { z } from 'zod'

/** A list: one page of `data`, and the start of the next one. `next_cursor` is opaque and null on the last page. */
export const listOf = <S extends z.ZodType>(item: S) =>
  z.strictObject({
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })

/** A list with only one page. */
export const wholeList = <T>(data: readonly T[]) => ({ data, has_more: false, next_cursor: null }) as const

import { z } from 'zod'

export const grade = z
  .enum(['A+', 'A', 'B', 'C', 'D', 'F'])
  .nullable()
  .meta({ description: 'null: not known, because more than half of the points could not be determined' })
export const points = z.int().min(0).max(100)

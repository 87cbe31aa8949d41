import { invalid } from '../../config/errors.ts'
import { Text } from '../../config/schema.ts'

/** Longer than what is allowed, so that blanks around it do no harm; what counts is what is left without them. */
export const Reason = Text(1, 1_000)

/** 3 to 500 characters without the blanks around it, or 400. */
export const trimmed = (reason: string | undefined): string => {
  const text = reason?.trim() ?? ''
  if (text.length < 3 || text.length > 500) throw invalid([{ field: 'reason', message: 'must be 3 to 500 characters' }])
  return text
}

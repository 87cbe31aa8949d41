import { invalid } from '../../config/errors.ts'
import { words, Words } from '../../config/schema.ts'

const spoken = new RegExp(words, 'u')

/** Longer than what is allowed, so that blanks around it do no harm; what counts is what is left without them. */
export const Reason = Words(1, 1_000)

/** 3 to 500 characters without the blanks around it, of which something is seen, or 400. */
export const trimmed = (reason: string | undefined): string => {
  const text = reason?.trim() ?? ''
  if (text.length < 3 || text.length > 500) throw invalid([{ field: 'reason', message: 'must be 3 to 500 characters' }])
  if (!spoken.test(text)) throw invalid([{ field: 'reason', message: 'must not be blank or hold control characters' }])
  return text
}

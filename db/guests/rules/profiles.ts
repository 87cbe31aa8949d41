import { invalid } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { toE164 } from '../../../config/phone-numbers.ts'
import { todayIn } from '../../../config/time.ts'

type Given = {
  birthDate?: string | null | undefined
  tags?: readonly string[] | undefined
  firstName?: string | undefined
  phone?: string | null | undefined
  otherPhone?: string | null | undefined
}

/** The first days of the world's time zones are ahead of UTC: no birth date is after that day. */
const lastBirthDate = (): string => todayIn('Pacific/Kiritimati')
const firstBirthDate = '1900-01-01'

const problemsOf = ({ birthDate, tags = [], firstName, ...phones }: Given): FieldError[] => [
  ...(typeof birthDate === 'string' && (birthDate < firstBirthDate || birthDate > lastBirthDate())
    ? [{ field: 'birthDate', message: `must be from ${firstBirthDate} to today` }]
    : []),
  ...(new Set(tags).size < tags.length ? [{ field: 'tags', message: 'names a tag twice' }] : []),
  ...(firstName !== undefined && firstName.trim() === ''
    ? [{ field: 'firstName', message: 'has no visible character' }]
    : []),
  ...(['phone', 'otherPhone'] as const).flatMap((field) => {
    const number = phones[field]
    return typeof number === 'string' && toE164(number) !== number
      ? [{ field, message: 'is no telephone number in E.164, such as +5524999990001' }]
      : []
  }),
]

/** Refuses what schemas cannot tell: birth dates to come, tags that stand twice, and telephone numbers that no country has. `before` begins the names of the fields. */
export const checkProfile = (given: Given, before = ''): void => {
  const problems = problemsOf(given)
  if (problems.length > 0)
    throw invalid(problems.map(({ field, message }) => ({ field: `${before}${field}`, message })))
}

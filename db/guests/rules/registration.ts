import type { DocumentKind } from '../documents/numbers.ts'

export type Place = { city?: string; region?: string; countryCode?: string }
/** A form as the guest fills it in. */
export type RegistrationForm = {
  name?: string
  document?: { kind: DocumentKind; countryCode: string; number: string }
  birthDate?: string
  nationality?: string
  residence?: Place
  occupation?: string
  reason?: 'leisure' | 'business' | 'event' | 'health' | 'study' | 'other'
  transport?: 'plane' | 'car' | 'bus' | 'ship' | 'train' | 'other'
  from?: Place
  to?: Place
}

/** Fields that a form needs where no authority asks for more. */
export const requiredFields = ['name', 'document', 'birthDate', 'nationality', 'residence'] as const

const isGiven = (form: RegistrationForm, field: RequiredField): boolean => {
  if (field === 'residence') return Boolean(form.residence?.city) && Boolean(form.residence?.countryCode)
  return Boolean(form[field])
}

export type RequiredField = (typeof requiredFields)[number]

export const missingIn = (form: RegistrationForm): RequiredField[] =>
  requiredFields.filter((field) => !isGiven(form, field))

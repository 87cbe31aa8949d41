import type { Authority, FormField } from '../../../config/registration.ts'
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

/** The guest of a form, as far as it decides what an authority asks for. Null where it is not known. */
export type Person = { isAdult: boolean | null; isForeign: boolean | null }

const adultAge = 18

/** A guest on the day of arrival, in a house of `country`. Who was born on 29 February comes of age on 1 March. */
export const personOf = (form: RegistrationForm, arrival: string, country: string | null): Person => {
  const { birthDate, nationality } = form
  const adultOn = birthDate && `${Number(birthDate.slice(0, 4)) + adultAge}${birthDate.slice(4)}`
  return {
    isAdult: adultOn === undefined || adultOn === '' ? null : adultOn <= arrival,
    isForeign: nationality === undefined || country === null ? null : nationality !== country,
  }
}

const always = ['name', 'document', 'birthDate', 'nationality', 'residence'] as const

/** Fields that the form of a person needs. Without an authority these are what the law asks of every house. */
export const requiredFields = (authority: Authority, { isAdult, isForeign }: Person): FormField[] =>
  authority === 'none'
    ? [...always]
    : [
        ...always,
        ...(isAdult === false ? [] : (['occupation'] as const)),
        'reason',
        'transport',
        ...(isForeign === true ? (['from', 'to'] as const) : []),
      ]

const isGiven = (form: RegistrationForm, field: FormField): boolean => {
  const value = form[field]
  if (field === 'residence' || field === 'from' || field === 'to') {
    const place = form[field]
    return Boolean(place?.city) && Boolean(place?.countryCode)
  }
  return Boolean(value)
}

export const missingIn = (form: RegistrationForm, required: readonly FormField[]): FormField[] =>
  required.filter((field) => !isGiven(form, field))

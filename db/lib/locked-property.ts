import { conflict, invalid, notFound } from '../../config/errors.ts'
import type { LocalText } from '../../config/local-text.ts'
import { sqlOne } from './connection.ts'
import type { Trx } from './connection.ts'

export type LockedProperty = {
  id: string
  code: string
  status: 'draft' | 'live' | 'suspended' | 'archived'
  businessDate: string | null
  timezone: string
  currency: string
  locales: string[]
  bookId: string
  countryCode: string | null
  legalDocument: string | null
  version: number
  now: Date
}

/**
 * Locks a property, after the record of it that a command is about: all that changes what a house is and sells comes one after
 * the other, so that what a command has found true (a plan is active, a policy is used by none) stays true until its commit.
 */
export const lockProperty = async (trx: Trx, propertyId: string): Promise<LockedProperty> => {
  const row = await sqlOne<LockedProperty>(
    trx,
    `select id, code, status, business_date, timezone, currency, locales, book_id, address ->> 'countryCode' as country_code, legal_document, version, now() as now
     from property where id = ? for no key update`,
    [propertyId],
  )
  if (!row) throw noProperty()
  return row
}

const noProperty = () => notFound('There is no such property')
const isArchived = () => conflict('invalid_transition', 'The property is archived')

/** Locks a property to change what it sells. 409 `invalid_transition` if it is archived: such a property is read only. */
export const lockForChange = async (trx: Trx, propertyId: string): Promise<LockedProperty> => {
  const property = await lockProperty(trx, propertyId)
  if (property.status === 'archived') throw isArchived()
  return property
}

/** Refuses work in the units of an archived property, without locking it. 404, 409 `invalid_transition`. */
export const refuseArchived = async (trx: Trx, propertyId: string): Promise<void> => {
  if ((await statusOf(trx, propertyId)) === 'archived') throw isArchived()
}

/** 404 where the tenant has no such property. */
export const statusOf = async (trx: Trx, propertyId: string): Promise<LockedProperty['status']> => {
  const property = await sqlOne<Pick<LockedProperty, 'status'>>(trx, `select status from property where id = ?`, [
    propertyId,
  ])
  if (!property) throw noProperty()
  return property.status
}

/** Refuses texts that the property's first locale is missing from: all others fall back to it. An empty text says nothing. */
export const requireTexts = (
  { locales }: Pick<LockedProperty, 'locales'>,
  texts: Record<string, LocalText | undefined>,
): void => {
  const first = locales[0] ?? 'en'
  const errors = Object.entries(texts).flatMap(([field, text]) =>
    text && Object.keys(text).length > 0 && text[first] === undefined
      ? [{ field: `${field}.${first}`, message: 'is required' }]
      : [],
  )
  if (errors.length > 0) throw invalid(errors)
}

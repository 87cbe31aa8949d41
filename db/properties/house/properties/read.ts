import type { Amenity } from '../../../../config/amenities.ts'
import { notFound } from '../../../../config/errors.ts'
import type { LocalText } from '../../../../config/local-text.ts'
import { settingsOf } from '../../../../config/property-settings.ts'
import type { PropertySettings, StoredSettings } from '../../../../config/property-settings.ts'
import type { Condition } from '../../../lib/conditions.ts'
import { sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { inScope, orderBy, readPage, where } from '../../../lib/paging.ts'
import type { Paging, Sort } from '../../../lib/paging.ts'
import type { PropertyRow } from '../../../rows.ts'
import type { PropertyAddress } from '../../sale/catalogue.ts'

const columns = `p.id, p.code, p.slug, p.name, p.description, p.kind, p.status, p.timezone, p.currency, p.locales, p.address, p.latitude::float8 as latitude,
  p.longitude::float8 as longitude, p.phone, p.email, p.website, p.legal_name, p.legal_document, p.registry_number, p.book_id, p.check_in_from,
  p.check_in_until, p.check_out_until, p.cleaning_minutes, p.amenities, p.house_rules, p.business_date, p.public_version, p.version, p.created_at, p.updated_at`

type Row = Omit<
  PropertyRow,
  'tenantId' | 'settings' | 'latitude' | 'longitude' | 'description' | 'houseRules' | 'address' | 'amenities'
> & {
  description: LocalText
  houseRules: LocalText
  address: PropertyAddress
  amenities: Amenity[]
  latitude: number | null
  longitude: number | null
}

const shown = ({ latitude, longitude, ...row }: Row) => ({
  ...row,
  geo: latitude === null || longitude === null ? null : { latitude, longitude },
})

export const propertySorts = { name: 'p.name', code: 'p.code', createdAt: 'p.created_at' } as const

type Filter = Paging & {
  status?: string | undefined
  kind?: string | undefined
  q?: string | undefined
  sort: Sort<keyof typeof propertySorts>
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Properties without their settings; archived ones only where they are asked for. */
export const listProperties = async (trx: Trx, { status, kind, q, sort, scope, ...paging }: Filter) => {
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'property p',
      conditions: [
        ...inScope(scope, 'p.id'),
        ...(status === undefined ? [{ text: `p.status <> 'archived'`, values: [] }] : where('p.status = ?', status)),
        ...where('p.kind = ?', kind),
        ...(q === undefined
          ? []
          : [{ text: '(strpos(lower(p.name), lower(?)) > 0 or strpos(p.code, upper(?)) > 0)', values: [q, q] }]),
      ],
      order: orderBy(sort, propertySorts, 'p.id'),
    },
    paging,
  )
  return { total, rows: rows.map(shown) }
}

/** A property with its settings, every key of them. 404. */
export const readPropertyRecord = async (
  trx: Trx,
  propertyId: string,
): Promise<ReturnType<typeof shown> & { settings: PropertySettings }> => {
  const row = await sqlOne<Row & { settings: StoredSettings }>(
    trx,
    `select ${columns}, p.settings from property p where p.id = ?`,
    [propertyId],
  )
  if (!row) throw notFound()
  return { ...shown(row), settings: settingsOf(row.settings) }
}

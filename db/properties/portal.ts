import { randomUUID } from 'node:crypto'
import { notFound } from '../../config/errors.ts'
import type { LocalText } from '../../config/local-text.ts'
import { sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { emit } from '../events.ts'
import { hasChannels, requestMarks } from './channels/dirty.ts'
import type { Dirty } from './channels/dirty.ts'

/**
 * Raises `publicVersion`: whatever changes what a property sells or shows ends with it, so that no cache outlives the change.
 * Locks the property's row, so it never stands in a booking's transaction. `told`: what its channels are to be told of; everything unless
 * said, and nothing where the change is of no price, restriction, status or type.
 */
export const changePortal = async (
  trx: Trx,
  propertyId: string,
  told: Omit<Dirty, 'propertyId'> | 'nothing' = { kind: 'all' },
): Promise<number> => {
  const row = await sqlOne<{ publicVersion: number; hasChannels: boolean }>(
    trx,
    `with changed as (update property set public_version = public_version + 1 where id = ? returning id, tenant_id, slug, status, public_version),
       directory as (
         insert into property_directory (property_id, tenant_id, slug, status, public_version)
         select id, tenant_id, slug, status, public_version from changed
         on conflict (property_id) do update set slug = excluded.slug, status = excluded.status, public_version = excluded.public_version)
     select y.public_version, ${hasChannels('y')} as has_channels from changed y`,
    [propertyId],
  )
  if (!row) throw notFound()
  if (row.hasChannels && told !== 'nothing') await requestMarks(trx, { propertyId, ...told })
  return row.publicVersion
}

export type PaymentMethodOffer = {
  id?: string
  method: 'card' | 'pix' | 'boleto' | 'bank_transfer' | 'cash' | 'pay_at_property'
  offeredTo: 'portal' | 'staff' | 'both'
  gatewayAccountId?: string | null
  minDaysBeforeArrival?: number
  maxAmount?: number | null
  maxInstallments?: number
  instructions?: LocalText
}

/** Replaces the set of payment methods, in this order. */
export const setPaymentMethods = async (trx: Trx, propertyId: string, methods: PaymentMethodOffer[]): Promise<void> => {
  await changePortal(trx, propertyId, 'nothing')
  await sql(trx, `delete from property_payment_method where property_id = ?`, [propertyId])
  const rows = methods.map((offer, position) => ({
    id: offer.id ?? randomUUID(),
    position,
    method: offer.method,
    offeredTo: offer.offeredTo,
    gatewayAccountId: offer.gatewayAccountId ?? null,
    minDaysBeforeArrival: offer.minDaysBeforeArrival ?? (offer.method === 'boleto' ? 5 : 0),
    maxAmount: offer.maxAmount ?? null,
    maxInstallments: offer.maxInstallments ?? 1,
    instructions: offer.instructions ?? {},
  }))
  await sql(
    trx,
    `insert into property_payment_method (id, property_id, method, offered_to, position, gateway_account_id, min_days_before_arrival, max_amount, max_installments, instructions)
     select m.id, ?, m.method, m."offeredTo", m.position, m."gatewayAccountId", m."minDaysBeforeArrival", m."maxAmount", m."maxInstallments", m.instructions
     from jsonb_to_recordset(?::jsonb) as m (id uuid, method text, "offeredTo" text, position int, "gatewayAccountId" uuid, "minDaysBeforeArrival" int,
       "maxAmount" bigint, "maxInstallments" int, instructions jsonb)`,
    [propertyId, JSON.stringify(rows)],
  )
}

export type PaymentMethodShown = {
  method: Exclude<PaymentMethodOffer['method'], 'bank_transfer' | 'cash'>
  gatewayAccountId: string | null
  provider: string | null
  publishableKey: string | null
  minDaysBeforeArrival: number
  maxAmount: number | null
  maxInstallments: number
  instructions: LocalText
}

/** Methods that guests may pay with: those by a gateway only while their account can charge by them. */
export const portalMethods = (trx: Trx, propertyId: string) =>
  sql<PaymentMethodShown>(
    trx,
    `select m.method, m.gateway_account_id, a.provider, case a.provider when 'sandbox' then 'pk_sandbox' end as publishable_key, m.min_days_before_arrival, m.max_amount, m.max_installments, m.instructions
     from property_payment_method m
     left join gateway_account a on a.tenant_id = m.tenant_id and a.id = m.gateway_account_id
     where m.property_id = ? and m.offered_to in ('portal', 'both')
       and (m.gateway_account_id is null or (a.charges_enabled and a.status in ('active', 'restricted') and a.capabilities ->> m.method = 'active'))
     order by m.position, m.method`,
    [propertyId],
  )

export type NewImage = {
  url: string
  unitTypeId?: string | null
  category: 'exterior' | 'unit' | 'bathroom' | 'common' | 'food' | 'surroundings' | 'plan'
  caption?: LocalText
}
export type ImageFacts = { width: number; height: number; mimeType: string; bytes: number }

/** Adds images; they are shown once checked. `facts` is what a check has found. */
export const addImages = async (
  trx: Trx,
  propertyId: string,
  images: (NewImage & { facts?: ImageFacts })[],
): Promise<string[]> => {
  await changePortal(trx, propertyId, 'nothing')
  const ids: string[] = []
  for (const image of images) {
    const row = await sqlOne<{ id: string }>(
      trx,
      `insert into gallery_image (property_id, url, unit_type_id, category, caption, position, status, width, height, mime_type, bytes, checked_at)
       select ?, ?, ?, ?, ?::jsonb, (select coalesce(max(position) + 1, 0) from gallery_image where property_id = ?),
         case when f.width is null then 'pending' else 'ready' end, f.width, f.height, f.mime_type, f.bytes, case when f.width is not null then now() end
       from (select ?::int as width, ?::int as height, ?::text as mime_type, ?::int as bytes) f returning id`,
      [
        propertyId,
        image.url,
        image.unitTypeId ?? null,
        image.category,
        JSON.stringify(image.caption ?? {}),
        propertyId,
        image.facts?.width ?? null,
        image.facts?.height ?? null,
        image.facts?.mimeType ?? null,
        image.facts?.bytes ?? null,
      ],
    )
    if (row) ids.push(row.id)
  }
  await emit(trx, {
    type: 'gallery.changed',
    propertyId,
    entity: { type: 'property', id: propertyId, version: null },
    data: { propertyId },
  })
  return ids
}

export type ReadyImage = {
  galleryImageId: string
  url: string
  category: string
  unitTypeId: string | null
  caption: LocalText
  width: number
  height: number
  position: number
}

export const readyImages = (trx: Trx, propertyId: string) =>
  sql<ReadyImage>(
    trx,
    `select id as gallery_image_id, url, category, unit_type_id, caption, width, height, position from gallery_image
     where property_id = ? and status = 'ready' order by position, id limit 200`,
    [propertyId],
  )

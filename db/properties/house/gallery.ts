import { notFound, unprocessable } from '../../../config/errors.ts'
import { galleryChanged, galleryImageBroken } from '../../../config/events/properties.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { checkImage } from '../../../jobs/properties.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { GalleryImageRow } from '../../rows.ts'
import { model } from '../../lib/models.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import { lockForChange, requireTexts } from '../../lib/locked-property.ts'
import { refuseUnitTypes } from '../terms/extras.ts'
import { changePortal } from '../../lib/public-version.ts'

export type NewImage = {
  url: string
  unitTypeId?: string | null
  category: 'exterior' | 'unit' | 'bathroom' | 'common' | 'food' | 'surroundings' | 'plan'
  caption?: LocalText
}
export type ImageFacts = { width: number; height: number; mimeType: string; bytes: number }

const GalleryImage = model<'gallery_image', { caption: LocalText }>('gallery_image')

/** Tells that what guests may see of the pictures is another; of which image, where it is one. */
const tell = (trx: Trx, propertyId: string, image: Pick<GalleryImageRow, 'id' | 'unitTypeId'> | null) =>
  emit(trx, galleryChanged, {
    propertyId,
    id: propertyId,
    version: null,
    data: { galleryImageId: image?.id ?? null, unitTypeId: image?.unitTypeId ?? null },
  })

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
  await tell(trx, propertyId, ids.length === 1 ? { id: ids[0]!, unitTypeId: images[0]?.unitTypeId ?? null } : null)
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

type ImageRecord = Omit<GalleryImageRow, 'tenantId' | 'caption'> & { caption: LocalText }

const columns = `id, property_id, url, unit_type_id, category, caption, position, status, problem, width, height, mime_type, bytes, checked_at,
  version, created_at, updated_at`
const most = 200

type Filter = Paging & {
  propertyId: string
  status?: string | undefined
  category?: string | undefined
  unitTypeId?: string | undefined
}

export const listImages = (trx: Trx, { propertyId, status, category, unitTypeId, ...paging }: Filter) =>
  readPage<ImageRecord>(
    trx,
    {
      columns,
      from: 'gallery_image',
      conditions: [
        ...where('property_id = ?', propertyId),
        ...where('status = ?', status),
        ...where('category = ?', category),
        ...where('unit_type_id = ?', unitTypeId),
      ],
      order: 'position, id',
    },
    paging,
  )

export const readImage = async (trx: Trx, propertyId: string, id: string): Promise<ImageRecord> => {
  const row = await sqlOne<ImageRecord>(trx, `select ${columns} from gallery_image where id = ? and property_id = ?`, [
    id,
    propertyId,
  ])
  if (!row) throw notFound()
  return row
}

const askForCheck = async (trx: Trx, id: string) => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('an image belongs to a tenant')
  await enqueue(trx, checkImage, { tenantId, galleryImageId: id }, { uniqueKey: id })
}

const refuseTypes = (trx: Trx, propertyId: string, unitTypeId: string | null | undefined) =>
  refuseUnitTypes(trx, propertyId, unitTypeId ? [unitTypeId] : [])

/** Adds an image, to be shown once it is checked. 409 `duplicate_code` where it is there already, 422 `too_many` past 200. */
export const createImage = async (
  trx: Trx,
  propertyId: string,
  image: NewImage & { position?: number | undefined },
): Promise<string> => {
  const property = await lockForChange(trx, propertyId)
  requireTexts(property, { caption: image.caption })
  await refuseTypes(trx, propertyId, image.unitTypeId)
  const count = await sqlOne<{ n: number }>(trx, `select count(*)::int as n from gallery_image where property_id = ?`, [
    propertyId,
  ])
  if ((count?.n ?? 0) >= most) throw unprocessable('too_many', `A property shows at most ${most} images`)
  const [id] = await addImages(trx, propertyId, [image])
  if (id === undefined) throw new Error('the image was not added')
  if (image.position !== undefined) await changeRow(trx, GalleryImage, id, { position: image.position })
  await askForCheck(trx, id)
  return id
}

export type ImageChange = {
  [Field in 'category' | 'caption' | 'unitTypeId']?: NewImage[Field] | undefined
} & { position?: number | undefined }

/** Changes what is said of an image, and has it looked at again, also where nothing is said. The caller holds its row. */
export const changeImage = async (trx: Trx, propertyId: string, id: string, change: ImageChange): Promise<void> => {
  const image = await readImage(trx, propertyId, id)
  const property = await lockForChange(trx, propertyId)
  await askForCheck(trx, id)
  if (fieldsOf(change).length === 0) return
  requireTexts(property, { caption: change.caption })
  await refuseTypes(trx, propertyId, change.unitTypeId)
  await changeRow(trx, GalleryImage, id, change)
  await changePortal(trx, propertyId, 'nothing')
  await tell(trx, propertyId, {
    id,
    unitTypeId: change.unitTypeId === undefined ? image.unitTypeId : change.unitTypeId,
  })
}

/** Answers the image as it was. The caller holds its row. */
export const removeImage = async (trx: Trx, propertyId: string, id: string): Promise<ImageRecord> => {
  const image = await readImage(trx, propertyId, id)
  await lockForChange(trx, propertyId)
  await sql(trx, `delete from gallery_image where id = ?`, [id])
  await changePortal(trx, propertyId, 'nothing')
  await tell(trx, propertyId, image)
  return image
}

/** The address of an image; null where it was removed. */
export const addressOfImage = async (trx: Trx, id: string): Promise<string | null> =>
  (await sqlOne<{ url: string }>(trx, `select url from gallery_image where id = ?`, [id]))?.url ?? null

/** Finding of a check of an image: its facts, or why it cannot be shown. */
export type Finding = ImageFacts | { problem: string }

/** Keeps what a check has found. What guests see changes only where the image came, went or became another. */
export const recordCheck = async (trx: Trx, id: string, finding: Finding): Promise<void> => {
  const before = await sqlOne<ImageRecord>(trx, `select ${columns} from gallery_image where id = ? for no key update`, [
    id,
  ])
  if (!before) return
  const broken = 'problem' in finding
  const status = broken ? 'broken' : 'ready'
  const facts = broken ? before : finding
  await sql(
    trx,
    `update gallery_image set status = ?, problem = ?, width = ?, height = ?, mime_type = ?, bytes = ?, checked_at = clock_timestamp() where id = ?`,
    [
      status,
      broken ? finding.problem : null,
      facts.width ?? null,
      facts.height ?? null,
      facts.mimeType ?? null,
      facts.bytes ?? null,
      id,
    ],
  )
  const isSame = before.status === status && (broken || before.width === facts.width) && before.height === facts.height
  if (isSame) return
  await changePortal(trx, before.propertyId, 'nothing')
  if (!broken) await tell(trx, before.propertyId, before)
  else if (before.status !== 'broken')
    await emit(trx, galleryImageBroken, {
      propertyId: before.propertyId,
      id,
      version: before.version,
      data: { galleryImageId: id, unitTypeId: before.unitTypeId },
    })
}

/** `due` in the words of PostgreSQL, to the microsecond. */
export type DueImage = { tenantId: string; imageId: string; due: string }

/** Images of every tenant that were not checked since `before`, the longest waiting first, beyond `after`. */
export const imagesDue = (
  trx: PlatformTrx,
  before: Date,
  after: Pick<DueImage, 'imageId' | 'due'>,
  atOnce: number,
): Promise<DueImage[]> =>
  sql<DueImage>(trx, `select tenant_id, image_id, due::text as due from images_due_for_check(?, ?, ?, ?)`, [
    before,
    after.due,
    after.imageId,
    atOnce,
  ])

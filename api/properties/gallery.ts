import {
  Count,
  Https,
  Instant,
  Int,
  LocalText,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { changeImage, createImage, listImages, readImage, removeImage } from '../../db/properties/gallery.ts'
import { readPropertyRecord } from '../../db/properties/properties.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { ofProperty, stamps } from './schemas.ts'

const Category = OneOf(['exterior', 'unit', 'bathroom', 'common', 'food', 'surroundings', 'plan'])
const Status = OneOf(['pending', 'ready', 'broken'])
const optional = {
  unitTypeId: Nullable(Uuid),
  caption: LocalText,
  position: Int(0, 10_000),
}
const GalleryImage = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    url: Https,
    category: Category,
    ...optional,
    status: Status,
    /** Why it is broken. */
    problem: Nullable(Text(1, 60)),
    width: Nullable(Count),
    height: Nullable(Count),
    mimeType: Nullable(Text(1, 60)),
    bytes: Nullable(Count),
    checkedAt: Nullable(Instant),
    ...stamps,
  },
  { title: 'GalleryImage' },
)
const path = `${ofProperty}/gallery` as const
const record = { table: 'gallery_image', param: 'galleryImageId' }

const list = paged({
  id: 'gallery.list',
  path,
  summary: 'List images of a property and its unit types',
  access: can('read', 'GalleryImage'),
  query: { status: Opt(Status), category: Opt(Category), unitTypeId: Opt(Uuid) },
  of: GalleryImage,
  find: async ({ trx, params: { propertyId }, query }) => {
    await readPropertyRecord(trx, propertyId)
    return listImages(trx, { ...query, propertyId })
  },
})

const create = route({
  id: 'gallery.create',
  method: 'POST',
  path,
  summary: 'Add an image by its address',
  description:
    'The image stays where it is. It is shown once a worker has found it to be a JPEG, PNG or WebP of at most 20 MiB and at least 800 pixels wide; else it is broken, and `problem` says why. At most 200 of a property.',
  access: can('create', 'GalleryImage'),
  status: 201,
  errors: ['duplicate_code', 'reference_not_found', 'too_many', 'invalid_transition'],
  body: Obj({ url: Https, category: Category, ...Sparse(Obj(optional)).properties }),
  returns: GalleryImage,
  handle: async ({ trx, params: { propertyId }, body }) =>
    readImage(trx, propertyId, await createImage(trx, propertyId, body)),
})

const change = route({
  id: 'gallery.update',
  method: 'PATCH',
  path: `${path}/:galleryImageId`,
  summary: 'Change caption, category, unit type or position of an image',
  description: 'The image is looked at again. Another address is another image.',
  access: can('update', 'GalleryImage'),
  record,
  errors: ['reference_not_found', 'invalid_transition'],
  body: Sparse(Obj({ category: Category, ...optional })),
  returns: GalleryImage,
  handle: async ({ trx, params: { propertyId, galleryImageId }, body }) => {
    await changeImage(trx, propertyId, galleryImageId, body)
    return readImage(trx, propertyId, galleryImageId)
  },
})

const remove = route({
  id: 'gallery.delete',
  method: 'DELETE',
  path: `${path}/:galleryImageId`,
  summary: 'Remove an image',
  access: can('delete', 'GalleryImage'),
  record,
  errors: ['invalid_transition'],
  returns: GalleryImage,
  handle: ({ trx, params: { propertyId, galleryImageId } }) => removeImage(trx, propertyId, galleryImageId),
})

export const routes = [list, create, change, remove]

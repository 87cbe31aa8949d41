export const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(33)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}
/** With a profile before its frame, and a fill byte. */
export const jpeg = (width: number, height: number) => {
  const profile = Buffer.alloc(302)
  profile.writeUInt16BE(0xffe1, 0)
  profile.writeUInt16BE(300, 2)
  const frame = Buffer.from('ffffc2001108000000000301110002110003110000', 'hex')
  frame.writeUInt16BE(height, 6)
  frame.writeUInt16BE(width, 8)
  return Buffer.concat([Buffer.from('ffd8', 'hex'), profile, frame])
}
const riff = (chunk: string, body: Buffer) =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(chunk), Buffer.alloc(4), body])
export const lossy = (width: number, height: number) => {
  const body = Buffer.from('0000009d012a000000000000', 'hex')
  body.writeUInt16LE(width, 6)
  body.writeUInt16LE(height, 8)
  return riff('VP8 ', body)
}
export const lossless = (width: number, height: number) => {
  const body = Buffer.alloc(12)
  body[0] = 0x2f
  body.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1)
  return riff('VP8L', body)
}
export const extended = (width: number, height: number) => {
  const body = Buffer.alloc(12)
  body.writeUIntLE(width - 1, 4, 3)
  body.writeUIntLE(height - 1, 7, 3)
  return riff('VP8X', body)
}

/** Heads of pictures that an encoder wrote, each 37 × 23 as stored: the second is progressive and asks to be turned, the fourth is animated. */
export const real = [
  {
    mimeType: 'image/jpeg',
    text:
      '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////2wBDAVVaWn' +
      'hpeOuCguv/////////////////////////////////////////////////////////////////////////wAARCAAXACUDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAA' +
      'AAAAAAED/8QAGRABAQEAAwAAAAAAAAAAAAAAADFxASFh/8QAFwEBAQEBAAAAAAAAAAAAAAAAAAECA//EABcRAQEBAQAAAAAAAAAAAAAAAAARMQH/2gAMAwEAAhEDEQA/AA' +
      '==',
  },
  {
    mimeType: 'image/jpeg',
    text:
      '/9j/4AAQSkZJRgABAQEASABIAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI//////////////' +
      '//////////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////' +
      'wgARCAAXACUDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAEC/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAEC/9oADAMBAAIQAxAAAAE=',
  },
  {
    mimeType: 'image/png',
    text:
      'iVBORw0KGgoAAAANSUhEUgAAACUAAAAXAQMAAAC24hTmAAAABlBMVEUA/wDIHh7e8bsHAAAATUlEQVR4nAXBsREDIRAEMN0OwYWUQCmU5ezp7NtyZCx57u9+s9WRxZbJkm' +
      'bKoCUMKSJ1FPe99xOLHZMVzYxBR+go',
  },
  {
    mimeType: 'image/png',
    text:
      'iVBORw0KGgoAAAANSUhEUgAAACUAAAAXAQMAAAC24hTmAAAABlBMVEUA/wDIHh7e8bsHAAAACGFjVEwAAAACAAAAAPONk3AAAAAaZmNUTAAAAAAAAAAlAAAAFwAAAAAAAA' +
      'AAAAAAAQAAwj7GygAAAE1JREFUeJwF',
  },
  {
    mimeType: 'image/webp',
    text:
      'UklGRnQAAABXRUJQVlA4IGgAAABQBACdASolABcAP7XE12Y9MSwnOrzIA6A2iWoAzOtfwF6PgwIlARq7fL8AAPn7eO2k4GkfkH+/FA23J+l77ySVOz8j8GrSFiu2xiYyRZ' +
      'NtirZB6YeOvBrvAHVnJpKZd5qXI2bL',
  },
  {
    mimeType: 'image/webp',
    text:
      'UklGRloAAABXRUJQVlA4TE4AAAAvJIAFAA/wj/9BHo/5jzQ4iiQ5jiD4ee82VEETFEHQ07eTRkT/41Pk5cvNm507nT2NnkpLocanxMvfzc/OqjNqDCpRCJ/wCrewC11oQh' +
      'U=',
  },
  {
    mimeType: 'image/webp',
    text:
      'UklGRroAAABXRUJQVlA4WAoAAAAYAAAAJAAAFgAAQUxQSAoAAAABB1CyiAhERP8DVlA4IGgAAABQBACdASolABcAP7XE12Y9MSwnOrzIA6A2iWoAzOtfwF6PgwIlARq7fL' +
      '8AAPn7eO2k4GkfkH+/FA23J+l77ySV',
  },
].map(({ mimeType, text }) => ({ mimeType, bytes: Buffer.from(text, 'base64') }))

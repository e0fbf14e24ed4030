#!/usr/bin/env bash
# The image of the Containerfile, built and used where there is no registry: the base is made by
# debootstrap, the image by buildah. Needs root, and both programs; nothing of it stays.
#
#     BASE=DIRECTORY bash tests/container.sh    a base that was made before
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
images() { "${BUILDAH:-buildah}" --root "$place/images" --runroot "$place/run" --storage-driver vfs "$@"; }
trap 'images umount --all > /dev/null 2>&1 || true; rm -rf "$place"' EXIT
export BUILDAH_ISOLATION=chroot
# Nothing is pulled: whatever is built here may be used.
printf '{"default": [{"type": "insecureAcceptAnything"}]}' > "$place/policy.json"
trusted=(--signature-policy "$place/policy.json")

base=${BASE:-$place/base}
[ -n "${BASE:-}" ] || debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates \
  bookworm "$base" > "$place/debootstrap.log"
container=$(images from "${trusted[@]}" scratch)
images copy --quiet "$container" "$base" / > /dev/null
images commit "${trusted[@]}" --quiet "$container" sievert-base > /dev/null
images rm "$container" > /dev/null

# What the build needs to reach the package index: as pip is told here.
settings=()
for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_CERT HTTPS_PROXY HTTP_PROXY; do
  [ -z "${!name:-}" ] || settings+=(--env "$name=${!name}")
done
for file in "${PIP_CERT:-}" "${SSL_CERT_FILE:-}"; do
  [ ! -f "$file" ] || settings+=(--volume "$file:$file:ro")
done
images build "${trusted[@]}" "${settings[@]}" --pull-never --build-arg BASE=localhost/sievert-base -t sievert \
  -f "$repository/Containerfile" "$repository"

container=$(images from "${trusted[@]}" --pull-never sievert)
images config "$container" > /dev/null
described=$(images inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}' sievert)
[ "$described" = "10001:10001 [/opt/sievert/bin/sievert]" ]
root=$(images mount "$container")
[ ! -e "$root/source" ] && [ ! -e "$root/opt/sievert/bin/pip" ]
echo "image: $(du -sm "$root/opt/sievert" | cut -f1) MB of Sievert on a base of $(du -sm "$base" | cut -f1) MB"

# As podman run --network none --read-only --tmpfs /tmp -v FOLDER:/data:ro would.
mkdir "$place/folder"
printf 'sex,age,postcode,income\nf,34,01234,low\nm,34,01234,high\nf,34,01234,low\nm,71,20095,low\n' \
  > "$place/folder/mine.csv"
chmod -R a+rX "$place/folder"
run() {
  unshare --net --mount --pid --fork bash -euc '
    root=$1 folder=$2
    shift 2
    mount --bind "$root" "$root"
    mkdir -p "$root/data" "$root/tmp" "$root/proc"
    mount --bind -o ro "$folder" "$root/data"
    mount -o remount,bind,ro "$root/data"
    mount -t tmpfs tmpfs "$root/tmp"
    mount -t proc proc "$root/proc"
    mount -o remount,bind,ro "$root"
    cd /
    exec chroot --userspec=10001:10001 "$root" /usr/bin/env -i \
      PATH=/opt/sievert/bin:/usr/bin:/bin LANG=C.UTF-8 HOME=/tmp PYTHONDONTWRITEBYTECODE=1 \
      /bin/sh -c "cd /data && exec /opt/sievert/bin/sievert \"\$@\"" sievert "$@"
  ' run "$root" "$place/folder" "$@"
}
run doctor
answer=$(run assess mine.csv -q sex,age,postcode -s income --html /tmp/page.html)
printf '%s\n' "$answer"
grep -q 'k-anonymity (k)  *1 person' <<< "$answer"
if run assess mine.csv -q sex --json result.json 2> "$place/said"; then
  echo "the mounted folder could be written to" >&2
  exit 1
fi
cat "$place/said"
echo "container: built, and used without a network, as user 10001, on a folder that it cannot change"

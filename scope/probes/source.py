"""The source of latents: a probe is valid only for latents of the same source."""

from __future__ import annotations

from dataclasses import dataclass, fields

from scope.errors import ModelError


@dataclass(frozen=True, kw_only=True)
class LatentSource:
    """The model that latents were read from, and how.

    ``spec`` loads the model again, and may be spelled differently for the same one;
    ``fingerprint`` changes whenever its latents could. ``readout`` says where in the text they
    are taken, ``prompt`` what stands around it, ``dtype`` how exact they are.
    """

    spec: str
    fingerprint: str
    readout: str
    prompt: str | None
    dtype: str

    def require(self, found: LatentSource) -> None:
        """Check that latents of another source are as good as from this one.

        Raises
        ------
        ModelError
            When they are not; the message shows what differs, on both sides.

        Examples
        --------
        >>> one = LatentSource(
        ...     spec="hf:a", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
        ... )
        >>> one.require(one)
        >>> one.require(LatentSource(**{**vars(one), "spec": "hf:b", "fingerprint": "34cd"}))
        Traceback (most recent call last):
        ...
        scope.errors.ModelError: found:    latents of `hf:b` with fingerprint `34cd`
        expected: latents of `hf:a` with fingerprint `12ab`, which the probe was fitted on
        fix:      read the latents from `hf:a` as it was, or fit a probe on those of `hf:b`
        """
        differing = [
            field.name
            for field in fields(self)
            if field.name != "spec" and getattr(self, field.name) != getattr(found, field.name)
        ]
        if differing:
            raise ModelError(
                f"latents of {found._told(differing)}",
                expected=f"latents of {self._told(differing)}, which the probe was fitted on",
                fix=f"read the latents from `{self.spec}` as it was, or fit a probe on those of "
                f"`{found.spec}`",
            )

    def _told(self, names: list[str]) -> str:
        said = " and ".join(f"{name} `{getattr(self, name)}`" for name in names)
        return f"`{self.spec}` with {said}"

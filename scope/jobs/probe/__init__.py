"""The job `probe`: read pairs and models, fit probes, evaluate and save them.

``request`` has the options and ``run`` the job, for new probes and a saved one. ``pairs``
checks the pairs, ``saving`` reads models and keeps probes, which ``similarity`` opens. ``steps``
fits and compares, with the estimator of ``estimator``, ``measures`` and ``network`` on the arrays
of ``latents``. ``correlations`` and ``layers`` give the numbers with intervals. ``page``
and ``page_tables`` make the report.
"""
